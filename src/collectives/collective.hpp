// SPDX-License-Identifier: Apache-2.0
// One collective of a group: its messages, its beginning and its end.
#pragma once

#include <exception>
#include <memory>
#include <utility>

#include <weft/coro/detail/awaitable.hpp>

#include "collectives/communicator.hpp"
#include "proto/select/select.hpp"

namespace weft::collectives {

/// One collective at one member, from its beginning to its end. Between the two the coroutine is on
/// the background executor, so that it moves while the application computes. A plain value that
/// algorithms copy; the communicator lives until the end.
/// `run` (algorithm.hpp) does all of it.
class collective {
 public:
  /// \param number     of a call that has begun before; not_begun: it begins
  /// \param background members wait for what this one does later
  collective(communicator& of, task_environment* where, const collective_call& made,
             std::uint64_t number = not_begun, bool background = true)
      : of_(&of),
        number_(number == not_begun ? of.begin(made) : number),
        tag_{proto::message_tag(of.number(), number_, fingerprint(made))},
        where_(where),
        rank_(of.rank()),
        made_(made),
        shape_(of.shape()) {
    shape_.flags = shape_.flags && number_ >= group_flags::calls_by_messages;
    if (!where_) return;
    back_to_ = where_->on;
    if (background) where_->on = &of.engine().background();
  }

  communicator& of() const noexcept { return *of_; }
  /// Of the group; of a part of the collective, the number among its members, and how many they
  /// are.
  peer_id rank() const noexcept { return rank_; }
  peer_id size() const noexcept { return shape_.ranks; }
  const group_shape& shape() const noexcept { return shape_; }
  /// The number of the call, and what it is.
  std::uint64_t number() const noexcept { return number_; }
  const collective_call& made() const noexcept { return made_; }
  /// The rank at a distance of at most size(): (rank + d) mod size, without a division.
  peer_id at(std::int64_t d) const noexcept {
    const std::int64_t n = size();
    const std::int64_t r = std::int64_t{rank()} + d;
    return static_cast<peer_id>(r < 0 ? r + n : r >= n ? r - n : r);
  }

  send_request send(peer_id to, const_buffer data) const { return {peer(to), tag_, data}; }
  recv_request recv(peer_id from, mutable_buffer into) const {
    return {nullptr, peer(from), tag_, into};
  }
  detail::peer_name peer(peer_id rank) const { return of_->peer(first_ + rank * distance_); }

  // In a group with levels: a part of this collective, among some of the members. Its messages have
  // the tag of the whole. Between two members the messages of all parts come in one order, so parts
  // that follow each other do not mix.

  /// Which part of the whole it is.
  enum class turn : bool { before_others, last };
  /// Among the members of this one's host.
  collective in_host(turn when) const noexcept {
    const peer_id place = rank_ % shape_.per_host;
    return {*this, when, place, rank_ - place, 1, shape_.of_host()};
  }
  /// Among the members of this one's slice. \param all whether all slices do that at once
  collective in_slice(turn when, bool all = true) const noexcept {
    const peer_id place = rank_ % shape_.per_host;
    return {*this, when, rank_ / shape_.per_host, place, shape_.per_host, shape_.of_slice(all)};
  }

  /// Before the last message that this member waits for: no other member waits for what comes after
  /// it. If it is short it need not move while the application computes, and its arrival interrupts
  /// no computation: from here on the coroutine is where it began.
  /// \param bytes of that message
  void leave_background(std::size_t bytes) const noexcept {
    if (!where_ || !is_last_ || bytes > proto::one_frame) return;
    if (back_to_ || where_->home == &of_->engine()) where_->on = back_to_;
  }

  /// Awaited last: moves the coroutine back to where it was. After a failure it revokes the group.
  /// \throws weft::error after a failure: the same at all members, as far as they know the reason
  class ending;
  ending end(std::exception_ptr failure) const noexcept;

 private:
  collective(const collective& whole, turn when, peer_id rank, peer_id first, peer_id distance,
             const group_shape& shape) noexcept
      : collective(whole) {
    rank_ = rank;
    first_ = first;
    distance_ = distance;
    shape_ = shape;
    is_last_ = when == turn::last;
  }

  communicator* of_;
  std::uint64_t number_;
  tag tag_;
  task_environment* where_;
  executor* back_to_ = nullptr;
  peer_id rank_, first_ = 0,
                 distance_ = 1;  // of the members: those of the group at equal distances
  bool is_last_ = true;
  collective_call made_;
  group_shape shape_;
};

class collective::ending final : public operation {
 public:
  ending(const collective& c, std::exception_ptr failure) noexcept
      : operation([](operation& op) noexcept { static_cast<ending&>(op).self_.resume(); }),
        of_(c),
        failure_(std::move(failure)) {}
  bool await_ready() const noexcept { return !of_.where_; }
  bool await_suspend(std::coroutine_handle<> self) noexcept {
    self_ = self;
    task_environment& c = *of_.where_;
    c.on = of_.back_to_;
    executor* to = c.on;
    if (!to && c.home && c.home != detail::run_loop::here()) to = c.home->home();
    if (!to) return false;
    to->post(*this);
    return true;
  }
  void await_resume() {
    if (failure_) [[unlikely]]
      throw_failure();
    of_.of_->ends(of_.tag_.value);
  }

 private:
  [[noreturn]] void throw_failure();

  const collective of_;
  std::exception_ptr failure_;
  std::coroutine_handle<> self_;
};

inline collective::ending collective::end(std::exception_ptr failure) const noexcept {
  return ending(*this, std::move(failure));
}

/// Awaited first. \throws weft::error: the group has failed before
class begin {
 public:
  /// As `collective`.
  begin(const detail::communicator_ptr& of, const collective_call& made,
        std::uint64_t number = not_begun, bool background = true) noexcept
      : of_(*of), made_(made), number_(number), background_(background) {}
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    where_ = detail::task_environment_of(self.promise());
    return false;
  }
  collective await_resume() const {
    of_.check();
    return collective(of_, where_, made_, number_, background_);
  }

 private:
  communicator& of_;
  const collective_call made_;
  const std::uint64_t number_;
  const bool background_;
  task_environment* where_ = nullptr;
};

}  // namespace weft::collectives
