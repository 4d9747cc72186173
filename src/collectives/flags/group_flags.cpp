// SPDX-License-Identifier: Apache-2.0
#include "collectives/flags/group_flags.hpp"

#include <fcntl.h>

#include <algorithm>

#include "collectives/communicator.hpp"
#include "runtime/flags/flag_waits.hpp"

namespace weft::collectives {

group_flags::group_flags(communicator& of) noexcept
    : of_(of), n_(of.shape().per_host), first_(of.rank() / n_ * n_), rank_(of.rank() - first_) {}

group_flags::~group_flags() {
  if (!segment_) return;
  of_.engine().flags().forget(*segment_);
}

runtime::flag_layout group_flags::layout() const noexcept {
  return {n_, static_cast<std::uint32_t>((1 + 2 * window) * n_), (n_ + 1) * bytes_of_rank};
}

runtime::flag_wait_service* group_flags::waits() const noexcept { return &of_.engine(); }

// --- the segment --------------------------------------------------------------------------------

void group_flags::make() noexcept {
  const runtime::engine::holder hold(of_.engine());
  if (made_.exchange(true)) return;
  try {
    const unique_fd file = runtime::flag_segment::make(layout());
    if (join(file)) return pass_on(file);
  } catch (const std::exception&) {
    // Messages have to do.
  }
  have_none(false);
}

bool group_flags::join(const unique_fd& file) noexcept {
  try {
    segment_ =
        std::make_unique<runtime::flag_segment>(file, layout(), rank_, of_.engine().own_doorbell());
  } catch (const std::exception&) {
    return false;
  }
  state_.store(state::joined, std::memory_order_release);
  return true;
}

void group_flags::on_descriptor(peer_id from, const unique_fd& file) noexcept {
  if (rank_ == 0 || from != parent() || state_ != state::coming) return;
  if (join(file))
    pass_on(file);
  else
    have_none(true);
}

/// Of the tree along which the descriptor goes.
template <class F>
void group_flags::for_each_child(F f) noexcept {
  const std::uint64_t first = 2 * std::uint64_t{rank_} + 1;
  if (first < n_) f(member(static_cast<peer_id>(first)));
  if (first + 1 < n_) f(member(static_cast<peer_id>(first + 1)));
}

void group_flags::pass_on(const unique_fd& file) noexcept {
  for_each_child(
      [&](peer_id child) { of_.pass(child, unique_fd(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0))); });
}

void group_flags::on_not_passed(peer_id to) noexcept {
  if (segment_) segment_->refuse();
  of_.say_no_segment(to);
}

void group_flags::on_no_segment(peer_id from) noexcept {
  if (segment_)
    segment_->refuse();
  else if (state_ == state::coming && rank_ != 0 && from == parent())
    have_none(false);
}

void group_flags::have_none(bool tell_parent) noexcept {
  state_.store(state::none, std::memory_order_release);
  if (tell_parent) of_.say_no_segment(parent());
  for_each_child([&](peer_id child) { of_.say_no_segment(child); });
}

void group_flags::fail(errc why) noexcept {
  if (segment_) of_.engine().flags().fail(*segment_, why);
}

std::optional<bool> group_flags::look() noexcept {
  if (state_.load(std::memory_order_acquire) == state::coming) return std::nullopt;
  if (segment_->is_refused())
    state_.store(state::none, std::memory_order_release);
  else if (segment_->is_whole())
    state_.store(state::whole, std::memory_order_release);
  else
    return std::nullopt;
  return usable();
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

std::optional<group_flags::missing_flag> group_flags::missing() const noexcept {
  const auto lacks = segment_ ? runtime::flag_waits::lacks(*segment_) : std::nullopt;
  if (!lacks) return std::nullopt;
  return missing_flag{member(lacks->flag % n_), calls_[(lacks->value - 1) % kept], lacks->value};
}

bool group_flags::lacks(peer_id rank) const noexcept {
  return segment_ && has(rank) && runtime::flag_waits::lacks(*segment_, rank - first_, n_);
}

}  // namespace weft::collectives
