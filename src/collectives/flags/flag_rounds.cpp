// SPDX-License-Identifier: Apache-2.0
#include "collectives/flags/flag_rounds.hpp"

#include <algorithm>

namespace weft::collectives {

runtime::flag_layout flag_rounds::layout_of(peer_id members) noexcept {
  return {members, static_cast<std::uint32_t>((1 + 2 * window) * members),
          (members + 1) * bytes_of_rank};
}

std::uint64_t flag_rounds::look_who_left() noexcept {
  publish();
  std::uint64_t least = ~std::uint64_t{0};
  for (peer_id r = 0; r != n_; ++r)
    least = std::min(least, segment_->at(r).value.load(std::memory_order_acquire));
  known_left_.store(least, std::memory_order_relaxed);
  return least;
}

/// Calls of one member may end in another order than they began, on several threads. Who leaves the
/// oldest round that is not over goes on past all later ones that are; the others only note theirs.
/// Of two threads at once one sees what the other wrote.
void flag_rounds::leave(std::uint64_t round) noexcept {
  std::uint64_t oldest = left_.load(std::memory_order_acquire);
  if (oldest == round) {  // no other call goes past this one
    left_.store(++oldest, std::memory_order_seq_cst);
  } else {
    over_[round % kept].store(round + 1, std::memory_order_seq_cst);
    oldest = left_.load(std::memory_order_seq_cst);
  }
  while (over_[oldest % kept].load(std::memory_order_seq_cst) == oldest + 1)
    if (left_.compare_exchange_strong(oldest, oldest + 1, std::memory_order_seq_cst)) ++oldest;
  const std::uint64_t seen = segment_->at(rank_).value.load(std::memory_order_relaxed);
  // A later round of this member may wait for this one, as its others do. Behind the store to
  // `left_` in the one order of such operations: either this thread sees that round, or `publish`
  // ahead of that wait sees the store.
  if (oldest - seen >= most_unpublished || next_.load(std::memory_order_seq_cst) != oldest)
    publish();
}

void flag_rounds::publish(std::uint64_t left) noexcept {
  std::atomic<std::uint64_t>& seen = segment_->at(rank_).value;
  std::uint64_t before = seen.load(std::memory_order_relaxed);
  while (before < left)
    if (seen.compare_exchange_weak(before, left, std::memory_order_release)) break;
  segment_->tell_sleepers();
}

}  // namespace weft::collectives
