// SPDX-License-Identifier: Apache-2.0
// Regions: memory that peers of a context may reach, by keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>

#include <weft/detail/rma_ops.hpp>
#include <weft/remote_region.hpp>

#include "proto/secret.hpp"
#include "runtime/engine.hpp"

namespace weft::proto {

/// The number of notifications that are kept for each region until they are taken.
inline constexpr std::size_t most_notifications = 4096;

/// A region, and its notifications.
struct region_entry {
  mutable_buffer memory;
  std::uint64_t first = 0;  // the offset of its first byte
  rights permissions = rights::none;
  std::deque<notification> unheard;
  std::deque<detail::notified_operation*> waiting;  // for one; then none is unheard
  std::uint32_t granted = 0;    // times that a peer's link may copy there by itself
  bool ending = false;          // no new access is let in
  operation* awaits = nullptr;  // that nothing is granted any more
};

/// What a peer wants to do with a region.
struct rma_range {
  std::uint64_t key = 0;
  rights right = rights::none;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// So many times a peer may name a region that there is not (it may have ended meanwhile). Who does
/// so more often guesses.
inline constexpr std::uint32_t most_wrong_keys = 1u << 16;

/// Memory that peers may reach, by its keys: its beginning and end, and what its owner is told.
/// Unless the owner chooses it, a key is 64 random bits: peers cannot guess it, and what named a
/// region that has ended names no other one. Owned by the messenger. Functions take the progress
/// lock themselves where they say "any thread"; the others want it held.
class region_table {
 public:
  /// \param secret numbers that no peer guesses
  region_table(runtime::engine& e, std::function<std::uint64_t()> secret)
      : engine_(e), secret_(std::move(secret)) {}

  /// Any thread. \return its key \throws std::bad_alloc, weft::error (system)
  std::uint64_t add(mutable_buffer memory, rights permissions);
  /// Any thread. \throws std::bad_alloc, weft::error (invalid_argument)
  void add(const region_name& name, mutable_buffer memory, rights permissions);
  /// Takes it back; waits for peers whose links are copying there. Any thread.
  void end(std::uint64_t key) noexcept;
  /// The same, as an operation. Any thread.
  bool start(detail::region_end_operation& op) noexcept;

  bool start(detail::notified_operation& op) noexcept;
  void cancel(detail::notified_operation& op) noexcept;  ///< any thread
  /// A notification for the owner of a region. \return false: too many have not been taken, or
  /// there is no memory for it
  bool notify(region_entry& region, const notification& what) noexcept;

  /// Null: there is none, or it is ending.
  region_entry* find(std::uint64_t key) noexcept;
  /// A peer's link does not copy there any more.
  void end_grant(std::uint64_t key) noexcept;
  /// The context ends: nothing is awaited any more.
  void close() noexcept;

  /// \return the memory, or (empty, with `why` set) why not. A size of 0 needs no memory
  mutable_buffer allow(const rma_range& wanted, detail::rma_refusal& why) noexcept;

  bool empty() const noexcept { return regions_.empty(); }

 private:
  void insert(const region_name& name, mutable_buffer memory, rights permissions);
  void remove(std::uint64_t key) noexcept;
  region_entry* begin_end(std::uint64_t key) noexcept;
  void end_notified(region_entry& r) noexcept;

  /// Pending while there are regions: as with a receive that is posted, a thread polls also while
  /// the application computes.
  class keepalive final : public operation {
   public:
    keepalive() noexcept : operation([](operation&) noexcept {}) {}
  };

  runtime::engine& engine_;
  keepalive keepalive_;
  bool closed_ = false;
  const std::function<std::uint64_t()> secret_;
  std::unordered_map<std::uint64_t, region_entry> regions_;
};

}  // namespace weft::proto
