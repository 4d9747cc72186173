// SPDX-License-Identifier: Apache-2.0
// The turns of an asio_loop in the io_context.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <weft/embedded_loop.hpp>
#include <weft/interop/detail/asio_library.hpp>

namespace weft::detail {

/// Either a turn is posted, or the last one has left waits on weft's descriptor and on a timer, or
/// a thread inside run() will ask for one. Asio's handlers keep it alive; the asio_loop ends it. In
/// the strand, unless a member says otherwise.
class asio_turns : public std::enable_shared_from_this<asio_turns> {
 public:
  using executor_type = net::strand<net::io_context::executor_type>;

  asio_turns(context& of, net::io_context& in)
      : strand_(net::make_strand(in.get_executor())),
        work_(in.get_executor()),
        loop_(std::in_place, of, &wake, this),
        descriptor_(in, loop_->descriptor()),
        timer_(in) {}
  ~asio_turns() { end(); }

  void begin() { post_turn(); }

  /// At once, or after the present turn.
  void end() {
    if (in_turn_) {
      stopping_ = true;
    } else if (loop_) {
      forget_waits();
      descriptor_.release();  // weft closes it
      loop_.reset();
      work_.reset();
    }
  }

  /// Any thread.
  void stop() {
    net::dispatch(strand_, [self = shared_from_this()] { self->end(); });
  }

  executor_type get_executor() const noexcept { return strand_; }
  std::uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  using clock = std::chrono::steady_clock;

  // What a handler that was not needed takes: when a turn comes back within this time, Asio had
  // nothing else to do.
  static constexpr std::chrono::nanoseconds alone = std::chrono::microseconds{4};
  static constexpr std::chrono::nanoseconds shortest_share = std::chrono::microseconds{20};
  static constexpr std::chrono::nanoseconds longest_share = std::chrono::milliseconds{1};

  /// Any thread.
  static void wake(void* self) noexcept {
    const auto turns = static_cast<asio_turns*>(self)->weak_from_this().lock();
    if (turns) net::post(turns->strand_, [turns] { turns->wake_up(); });
  }
  void wake_up() {
    if (!loop_ || posted_) return;
    left_ = clock::now();
    turn();
  }

  void post_turn() {
    posted_ = true;
    net::post(strand_, [self = shared_from_this()] {
      self->posted_ = false;
      self->turn();
    });
  }

  void turn() {
    if (!loop_) return;
    forget_waits();
    count_.fetch_add(1, std::memory_order_relaxed);
    const clock::time_point now = clock::now();
    const auto away = now - left_;
    in_turn_ = true;
    const auto after = loop_->turn(
        now + std::clamp<clock::duration>(away, shortest_share, longest_share), away > alone);
    in_turn_ = false;
    if (stopping_) return end();
    if (after.is == embedded_loop::next::turn) post_turn();
    if (after.is == embedded_loop::next::sleep) sleep_until(after.deadline);
    left_ = clock::now();
  }

  void sleep_until(clock::time_point deadline) {
    waits_ = true;
    const auto woken = [self = shared_from_this(), sleep = sleep_](const net_error_code&) {
      if (sleep == self->sleep_) self->wake_up();
    };
    if (deadline != clock::time_point::max()) {
      timer_.expires_at(deadline);
      timer_.async_wait(net::bind_executor(strand_, woken));
    }
    descriptor_.async_wait(net::posix::stream_descriptor::wait_read,
                           net::bind_executor(strand_, woken));
  }

  /// Their handlers, which may be on their way, do nothing any more.
  void forget_waits() {
    if (!std::exchange(waits_, false)) return;
    ++sleep_;
    timer_.cancel();
    net_error_code ignored;
    descriptor_.cancel(ignored);
  }

  executor_type strand_;
  // Also while a thread is inside run(), and nothing is posted.
  net::executor_work_guard<net::io_context::executor_type> work_;
  std::optional<embedded_loop> loop_;  // none: the turns have ended
  net::posix::stream_descriptor descriptor_;
  net::steady_timer timer_;
  bool posted_ = false;
  bool in_turn_ = false;
  bool stopping_ = false;
  bool waits_ = false;
  std::uint64_t sleep_ = 0;  // names the present sleep, or the next one
  clock::time_point left_ = clock::now();
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace weft::detail
