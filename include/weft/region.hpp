// SPDX-License-Identifier: Apache-2.0
// region: memory that peers may read, write and count in, and what they are told about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <weft/detail/rma_ops.hpp>
#include <weft/remote_region.hpp>

namespace weft {

class context;

/// Memory of this process that peers reach by endpoint::put, get, fetch_add and compare_swap, as
/// far as its rights go, whether or not the application is looking: in the modes with a progress
/// thread also while it computes. Move-only; must not outlive its context. Any thread.
///
/// A process that has `remote()` reaches it; it travels in an ordinary message. No process is kept
/// from touching the memory at the same time: what a put has written may be read once its
/// notification has come, or a message that the peer sent after its put had ended. Words that peers
/// count in are read and written here by std::atomic_ref<std::uint64_t>.
class region {
 public:
  /// \param owner  whose peers may reach it
  /// \param memory any memory; it must live as long as this object. For atomics its words must be
  ///               aligned to 8 bytes
  /// \param permissions    what peers may do; atomics need read_write
  /// \throws weft::error (system) when the kernel has no random number for its key; std::bad_alloc
  region(context& owner, std::span<std::byte> memory, rights permissions);

  /// The same, under a name of the owner's choice.
  /// \throws weft::error (invalid_argument) when the key is 0 or taken, or the last byte is counted
  ///         as 2^48 or more; std::bad_alloc
  region(context& owner, std::span<std::byte> memory, rights permissions, region_name name);
  region(region&& other) noexcept;
  region& operator=(region&& other) noexcept;

  /// As `end`, but blocks; it moves messages meanwhile. Not while an external loop's progress lock
  /// is held.
  ~region();

  /// Takes the memory back: what peers ask for from now on, and what was under way, ends there with
  /// errc::refused. Of a put that was under way a part may be there. Waits only for peers whose
  /// links were let copy by themselves (RDMA, CMA), until their engines say that they have ended,
  /// or they are lost: one that is stopped by a debugger holds it up. It cannot be stopped.
  /// Requests that wait for notifications end with errc::closed; notifications that were not taken
  /// are gone. To be awaited, once, or started in a scope; the destructor has nothing left to do
  /// then.
  detail::region_end_request end() const noexcept;

  /// Leaves the memory to peers until the context ends: the destructor does nothing.
  void release() noexcept;

  /// All of it, for others.
  remote_region remote() const noexcept;

  std::span<std::byte> bytes() const noexcept { return bytes_; }

  /// Takes the oldest notification that a peer left by endpoint::put or signal; waits for it if
  /// there is none. What came with it is visible then. Those of one peer come in the order in which
  /// their puts ended. Several may wait: each gets one, in turn.
  /// Ends with errc::stopped; with errc::closed when the region or the context ends; with
  /// errc::invalid_argument for a region that was moved from.
  detail::notified_request notified() const noexcept;

 private:
  proto::messenger* messenger_;
  region_name name_;
  std::span<std::byte> bytes_;
};

}  // namespace weft
