// SPDX-License-Identifier: Apache-2.0
// region: memory that peers reach by RMA, and its notifications.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <weft/operations/access.hpp>
#include <weft/remote_region.hpp>

namespace weft {

class context;

/// Memory of this process that peers reach by endpoint::put, get, fetch_add and compare_swap, as
/// its rights allow. The application takes no part: in the modes with a progress thread, peers
/// reach the memory also while the application computes. Move-only; must not outlive its context.
/// Any thread.
///
/// A process that has the value of `remote()`, which travels in an ordinary message, can reach the
/// region. weft does not exclude concurrent accesses. The bytes of a put may be read after its
/// notification, or after a message that the peer sent when its put had ended. Use
/// std::atomic_ref<std::uint64_t> on words that peers update by atomics.
class region {
 public:
  /// \param owner  the context; its peers may reach the region
  /// \param memory any memory; it must live as long as this object. For atomics its words must be
  ///               aligned to 8 bytes
  /// \param permissions    what peers may do; atomics need read_write
  /// \throws weft::error (system) when the kernel has no random number for its key; std::bad_alloc
  region(context& owner, std::span<std::byte> memory, rights permissions);

  /// The same, with a name that the owner chooses.
  /// \throws weft::error (invalid_argument) when the key is 0 or taken, or the offset of the last
  ///        byte is 2^48 or more; std::bad_alloc
  region(context& owner, std::span<std::byte> memory, rights permissions, region_name name);
  region(region&& other) noexcept;
  region& operator=(region&& other) noexcept;

  /// As `end`, but blocks, and makes progress meanwhile. Not while this thread holds the progress
  /// lock of an external loop.
  ~region();

  /// Ends the region: later RMA operations of peers, and those in flight, end at their initiators
  /// with errc::refused. A part of a put in flight may have been written. Waits only for peers with
  /// a grant (their links copy by themselves: RDMA, CMA), until their engines report the end of the
  /// copy or the peers are lost: after options::stop_timeout at the latest. A peer that a debugger
  /// has stopped delays the end. The end cannot be stopped. Requests that wait for notifications
  /// end with errc::closed; notifications in the queue are lost. Await the request once, or start
  /// it in a scope; the destructor does nothing afterwards.
  region_end_request end() const noexcept;

  /// Keeps the region until the context ends: the destructor does nothing.
  void release() noexcept;

  /// The name of the whole region, for peers.
  remote_region remote() const noexcept;

  std::span<std::byte> bytes() const noexcept { return bytes_; }

  /// Takes the oldest notification of a peer's endpoint::put or signal; waits if there is none. The
  /// bytes of the put are visible then. The notifications of one peer come in the order in which
  /// its puts ended. Several requests may wait: each gets one notification, in turn. Errors:
  /// errc::stopped; errc::closed when the region or the context ends; errc::invalid_argument for a
  /// region that was moved from.
  notified_request notified() const noexcept;

 private:
  proto::messenger* messenger_;
  region_name name_;
  std::span<std::byte> bytes_;
};

}  // namespace weft
