// SPDX-License-Identifier: Apache-2.0
#include "collectives/flags/group_segment.hpp"

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <weft/coro/time.hpp>

#include "collectives/communicator.hpp"
#include "runtime/flags/flag_waits.hpp"

namespace weft::collectives {

namespace {

/// Between two looks whether all members have the segment.
constexpr std::chrono::microseconds shortest_pause{10}, longest_pause{1000};

}  // namespace

group_segment::group_segment(communicator& of, const runtime::flag_layout& l) noexcept
    : of_(of), n_(l.members), first_(of.rank() / n_ * n_), rank_(of.rank() - first_), layout_(l) {}

/// A child of the process has a copy of this object, and the segment itself.
group_segment::~group_segment() {
  if (!segment_) return;
  if (of_.engine().is_inherited()) {
    static_cast<void>(segment_.release());
    return;
  }
  const runtime::engine::holder hold(of_.engine());
  of_.engine().flags().fail(*segment_, errc::closed);
  of_.engine().flags().forget(*segment_);
  segment_.reset();
}

runtime::flag_wait_service* group_segment::waits() const noexcept { return &of_.engine(); }

void group_segment::make() noexcept {
  const runtime::engine::holder hold(of_.engine());
  if (made_.exchange(true)) return;
  try {
    const unique_fd file = runtime::flag_segment::make(layout_);
    if (join(file)) return pass_on(file);
  } catch (const std::exception& e) {
    note_obstacle(e.what());
  }
  have_none(false);
}

bool group_segment::join(const unique_fd& file) noexcept {
  try {
    segment_ =
        std::make_unique<runtime::flag_segment>(file, layout_, rank_, &of_.engine().own_doorbell());
  } catch (const std::exception& e) {
    note_obstacle(e.what());
    return false;
  }
  on_joined();
  if (failed_ != errc::ok) of_.engine().flags().fail(*segment_, failed_, why_);
  state_.store(state::joined, std::memory_order_release);
  return true;
}

void group_segment::on_descriptor(peer_id from, const unique_fd& file) noexcept {
  if (rank_ == 0 || from != parent() || state_ != state::coming) return;
  if (join(file))
    pass_on(file);
  else
    have_none(true);
}

/// Of the tree along which the descriptor goes.
template <class F>
void group_segment::for_each_child(F f) noexcept {
  const std::uint64_t first = 2 * std::uint64_t{rank_} + 1;
  if (first < n_) f(member(static_cast<peer_id>(first)));
  if (first + 1 < n_) f(member(static_cast<peer_id>(first + 1)));
}

void group_segment::pass_on(const unique_fd& file) noexcept {
  for_each_child(
      [&](peer_id child) { of_.pass(child, unique_fd(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0))); });
}

void group_segment::on_not_passed() noexcept {
  if (segment_) segment_->refuse();
}

void group_segment::on_no_segment(peer_id from) noexcept {
  if (segment_)
    segment_->refuse();
  else if (state_ == state::coming && rank_ != 0 && from == parent())
    have_none(false);
}

void group_segment::have_none(bool tell_parent) noexcept {
  state_.store(state::none, std::memory_order_release);
  if (tell_parent) of_.say_no_segment(parent());
  for_each_child([&](peer_id child) { of_.say_no_segment(child); });
}

void group_segment::note_obstacle(const char* what) noexcept {
  try {
    obstacle_ = what;
  } catch (const std::bad_alloc&) {
    // It is no memory then.
  }
}

void group_segment::fail(errc why, std::shared_ptr<const std::string> text) noexcept {
  if (segment_) return of_.engine().flags().fail(*segment_, why, std::move(text));
  if (failed_ != errc::ok) return;
  failed_ = why;
  why_ = std::move(text);
}

std::optional<bool> group_segment::look() noexcept {
  if (state_.load(std::memory_order_acquire) == state::coming) return std::nullopt;
  if (segment_->is_refused())
    state_.store(state::none, std::memory_order_release);
  else if (segment_->is_whole())
    state_.store(state::whole, std::memory_order_release);
  else
    return std::nullopt;
  return usable();
}

/// The watch of the group meets the member that this one waits for, so that its end is noticed.
task<bool> group_segment::settles() {
  struct counted {
    explicit counted(std::atomic<unsigned>& n) noexcept : n_(n) { ++n_; }
    ~counted() { --n_; }
    std::atomic<unsigned>& n_;
  };
  const counted now(settling_);
  for (auto pause = shortest_pause;; pause = std::min(2 * pause, longest_pause)) {
    of_.check();
    if (const std::optional<bool> known = usable()) co_return *known;
    of_.waits();
    co_await sleep_for(pause);
  }
}

bool group_segment::has_waits() const noexcept {
  return segment_ && runtime::flag_waits::any(*segment_);
}

/// A member that has joined passes the segment on to its children.
std::optional<peer_id> group_segment::awaits_member() const noexcept {
  if (!is_settling()) return std::nullopt;
  if (!segment_) return rank_ == 0 ? std::nullopt : std::optional(parent());
  for (peer_id r = 0; r != n_; ++r)
    if (!segment_->has_joined(r)) return member(r);
  return std::nullopt;
}

bool group_segment::lacks(peer_id) const noexcept { return true; }

}  // namespace weft::collectives
