// SPDX-License-Identifier: Apache-2.0
#include "collectives/flags/group_flags.hpp"

#include <algorithm>

#include "collectives/communicator.hpp"
#include "runtime/flags/flag_waits.hpp"

namespace weft::collectives {

group_flags::group_flags(communicator& of) noexcept : group_segment(of, layout_of(of.size())) {}

runtime::flag_layout group_flags::layout_of(peer_id n) noexcept {
  return {n, static_cast<std::uint32_t>((1 + 2 * window) * n), (n + 1) * bytes_of_rank};
}

// --- rounds -------------------------------------------------------------------------------------

std::uint64_t group_flags::look_who_left() noexcept {
  std::uint64_t least = ~std::uint64_t{0};
  for (peer_id r = 0; r != n_; ++r)
    least = std::min(least, segment_->at(r).value.load(std::memory_order_acquire));
  known_left_.store(least, std::memory_order_relaxed);
  return least;
}

/// Calls of one member may end in another order than they began, on several threads: each goes on
/// past all rounds that are over.
void group_flags::leave(std::uint64_t round) noexcept {
  over_[round % kept].store(round + 1, std::memory_order_seq_cst);
  std::atomic<std::uint64_t>& left = segment_->at(rank_).value;
  std::uint64_t oldest = left.load(std::memory_order_seq_cst);
  while (over_[oldest % kept].load(std::memory_order_seq_cst) == oldest + 1)
    if (left.compare_exchange_strong(oldest, oldest + 1, std::memory_order_seq_cst)) ++oldest;
  segment_->tell_sleepers();
}

// --- waits that last ----------------------------------------------------------------------------

std::optional<group_segment::missing_flag> group_flags::missing() const noexcept {
  const auto lacks = segment_ ? runtime::flag_waits::lacks(*segment_) : std::nullopt;
  if (!lacks) return std::nullopt;
  return missing_flag{lacks->flag % n_, calls_[(lacks->value - 1) % kept], lacks->value};
}

bool group_flags::lacks(peer_id rank) const noexcept {
  return awaits_member() == rank || (segment_ && runtime::flag_waits::lacks(*segment_, rank, n_));
}

}  // namespace weft::collectives
