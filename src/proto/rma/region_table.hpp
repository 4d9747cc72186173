// SPDX-License-Identifier: Apache-2.0
// Regions: memory that peers of a context may reach, by keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>

#include <weft/operations/access.hpp>
#include <weft/remote_region.hpp>

#include "proto/services/services.hpp"

namespace weft::proto {

/// The number of notifications that are kept for each region until they are taken.
inline constexpr std::size_t most_notifications = 4096;

/// A region, and its notifications.
struct region_entry {
  mutable_buffer memory;
  std::uint64_t first = 0;  // the offset of its first byte
  rights permissions = rights::none;
  std::deque<notification> unheard;
  std::deque<notified_operation*>
      waiting;                // operations that wait for a notification; then none is unheard
  std::uint32_t granted = 0;  // times that a peer's link may copy there by itself
  bool ending = false;        // no new access is admitted
  detail::time_point ended_at = detail::time_point::max();  // and waits for grants since then
  operation* awaits = nullptr;                              // waits until no grant is left
};

/// The access that a peer requests to a region.
struct rma_range {
  std::uint64_t key = 0;
  rights right = rights::none;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// How often a peer may name a region that does not exist (it may have ended meanwhile). A peer
/// that does so more often is guessing.
inline constexpr std::uint32_t most_wrong_keys = 1u << 16;

/// The regions of a context by their keys: their beginning, their end, and their notifications.
/// Unless the owner chooses it, a key is 64 random bits: peers cannot guess it, and the key of a
/// region that has ended is never that of another one. Owned by the messenger. Functions that say
/// "any thread" take the progress lock themselves; for the others it must be held.
class region_table {
 public:
  /// \param secret makes numbers that no peer can guess
  region_table(const protocol_services& s, std::function<std::uint64_t()> secret)
      : engine_(s.engine), upkeep_(s.upkeep), secret_(std::move(secret)) {}

  /// Any thread. \return its key \throws std::bad_alloc, weft::error (system)
  std::uint64_t add(mutable_buffer memory, rights permissions);
  /// Any thread. \throws std::bad_alloc, weft::error (invalid_argument)
  void add(const region_name& name, mutable_buffer memory, rights permissions);
  /// Takes a region back; waits for peers whose links are copying from or to it, but not longer
  /// than messenger_settings::stop_timeout: then they are lost. Any thread.
  void end(std::uint64_t key) noexcept;
  /// As `end`, as an operation. Any thread.
  bool start(region_end_operation& op) noexcept;

  bool start(notified_operation& op) noexcept;
  void cancel(notified_operation& op) noexcept;  ///< any thread
  /// Notifies the owner of a region. \return false: too many notifications have not been taken, or
  /// there is no memory for it
  bool notify(region_entry& region, const notification& what) noexcept;

  /// Null: there is no such region, or it is ending.
  region_entry* find(std::uint64_t key) noexcept;
  /// Since when a region has been waiting for its grants, to end; time_point::max(): it has not.
  detail::time_point waits_since(std::uint64_t key) const noexcept;
  /// A peer's link no longer copies from or to that region.
  void end_grant(std::uint64_t key) noexcept;
  /// The context ends: operations that wait for notifications end.
  void close() noexcept;

  /// \return the memory, or (empty, with `why` set) why not. A size of 0 needs no memory
  mutable_buffer allow(const rma_range& wanted, detail::rma_refusal& why) noexcept;

  bool empty() const noexcept { return regions_.empty(); }

 private:
  void insert(const region_name& name, mutable_buffer memory, rights permissions);
  void remove(std::uint64_t key) noexcept;
  region_entry* begin_end(std::uint64_t key) noexcept;
  void end_notified(region_entry& r) noexcept;

  /// Pending while there are regions: so a thread polls also while the application computes, as
  /// with a posted receive.
  class keepalive final : public operation {
   public:
    keepalive() noexcept : operation([](operation&) noexcept {}) {}
  };

  runtime::engine& engine_;
  proto::upkeep& upkeep_;
  keepalive keepalive_;
  bool closed_ = false;
  const std::function<std::uint64_t()> secret_;
  std::unordered_map<std::uint64_t, region_entry> regions_;
};

}  // namespace weft::proto
