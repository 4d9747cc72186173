// SPDX-License-Identifier: Apache-2.0
// Memory that peers of a context may reach, by its keys.
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

namespace weft::proto {

/// So many notifications that were not taken are kept for each region.
inline constexpr std::size_t most_notifications = 4096;

/// A region, and what it has been told.
struct region_entry {
  mutable_buffer memory;
  std::uint64_t first = 0;  // what its first byte is counted as
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

/// Regions by their keys. Unless the owner chooses it, a key is 64 random bits: peers cannot guess
/// it, and what named a region that has ended names no other one. Progress lock held only.
class region_table {
 public:
  /// \param secret numbers that no peer guesses
  explicit region_table(std::function<std::uint64_t()> secret = secret_word)
      : secret_(std::move(secret)) {}

  /// \throws std::bad_alloc, weft::error (system)
  std::uint64_t add(mutable_buffer memory, rights permissions);
  /// \throws std::bad_alloc, weft::error (invalid_argument)
  void add(const region_name& name, mutable_buffer memory, rights permissions);
  void remove(std::uint64_t key) noexcept { regions_.erase(key); }
  /// Null: there is none, or it is ending.
  region_entry* find(std::uint64_t key) noexcept;

  /// \return the memory, or (empty, with `why` set) why not. A size of 0 needs no memory
  mutable_buffer allow(const rma_range& wanted, detail::rma_refusal& why) noexcept;

  /// For those who wait, all of them.
  std::unordered_map<std::uint64_t, region_entry>& all() noexcept { return regions_; }

 private:
  const std::function<std::uint64_t()> secret_;
  std::unordered_map<std::uint64_t, region_entry> regions_;
};

}  // namespace weft::proto
