// SPDX-License-Identifier: Apache-2.0
// A context's interface to coroutines, driven by hand: a thread inside run(), a clock, and requests
// that end when the test says so.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <weft/coro/detail/detached_task.hpp>
#include <weft/coro/detail/run_loop.hpp>
#include <weft/coro/detail/timer.hpp>
#include <weft/coro/task.hpp>

#include "coro/timer_heap.hpp"
#include "support/catch.hpp"

namespace manual {

/// Home of the chains of a test. The thread that calls run() is the one inside; one at a time. Time
/// stands still unless `advance` moves it.
class loop final : public weft::executor,
                   public weft::detail::run_loop,
                   public weft::detail::timer_service {
 public:
  // executor
  void post(weft::operation& work) noexcept override {
    std::lock_guard lock(mutex_);
    queue_.push(work);
    more_.notify_all();
  }
  bool is_home() const noexcept override { return true; }

  // driver
  weft::executor* home() noexcept override { return this; }
  weft::detail::timer_service* timers() noexcept override { return this; }
  void run_until_done(const std::atomic<bool>& done) noexcept override {
    const bool nested = here() == this;
    std::unique_lock lock(mutex_);
    while (!done.load()) {
      if (!nested && led_) {  // another thread is inside: that thread ends the operations
        more_.wait(lock);
        continue;
      }
      if (!nested) led_ = true;
      lock.unlock();
      run();
      lock.lock();
      if (!nested) led_ = false;
      more_.notify_all();
      if (done.load()) break;
      asleep_ = true;
      more_.wait(lock, [&] { return !queue_.empty() || (!nested && led_); });
      asleep_ = false;
    }
  }

  // timer_service
  weft::detail::time_point now() const noexcept override {
    std::lock_guard lock(mutex_);
    return now_;
  }
  void start(weft::detail::timer& t) noexcept override {
    {
      std::lock_guard lock(mutex_);
      if (!out_of_memory && !closed_) return heap_.push(t);
    }
    end(t, closed_ ? weft::errc::closed : weft::errc::out_of_memory);
  }
  void cancel(weft::detail::timer& t) noexcept override {
    {
      std::lock_guard lock(mutex_);
      if (!heap_.remove(t)) return;
    }
    end(t, weft::errc::stopped);
  }

  /// Ends an operation, as an engine does.
  void end(weft::operation& op, weft::errc status) noexcept {
    op.status = status;
    (op.on ? op.on : this)->post(op);
  }

  /// Completes the ended operations, and those that end as a result, until none is left. \return
  /// how many
  std::size_t run() noexcept {
    inside here(*this);
    std::size_t completed = 0;
    while (weft::operation* op = pop()) {
      op->complete();
      ++completed;
    }
    return completed;
  }

  /// Advances the clock; completes the timers that are due.
  void advance(std::chrono::nanoseconds by) {
    weft::operation_list due;
    {
      std::lock_guard lock(mutex_);
      now_ += by;
      heap_.pop_due(now_, due);
    }
    while (weft::operation* op = due.pop()) end(*op, weft::errc::ok);
    run();
  }

  /// Closes the timers, as the end of a context does.
  void close_timers() {
    weft::operation_list all;
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
      heap_.pop_due(weft::detail::time_point::max(), all);
    }
    while (weft::operation* op = all.pop()) end(*op, weft::errc::closed);
    run();
  }

  /// Whether the thread in run_until_done has nothing to do and waits for a post. Any thread.
  bool asleep() const {
    std::lock_guard lock(mutex_);
    return asleep_;
  }

  std::size_t waiting_timers() const {
    std::lock_guard lock(mutex_);
    return heap_.size();
  }

  weft::task_environment task_environment(std::stop_token stop = {}) noexcept {
    return {.on = nullptr, .stop = std::move(stop), .timers = this, .home = this};
  }

  bool out_of_memory = false;  ///< the timers have no memory

 private:
  weft::operation* pop() noexcept {
    std::lock_guard lock(mutex_);
    return queue_.pop();
  }

  mutable std::mutex mutex_;
  std::condition_variable more_;
  weft::operation_list queue_;
  bool led_ = false;     // a thread is inside run_until_done
  bool asleep_ = false;  // and that thread waits
  bool closed_ = false;
  weft::detail::timer_heap heap_;
  weft::detail::time_point now_{std::chrono::hours(1)};
};

/// A chain that the test started, and how it ended.
class spawned final : public weft::detail::detached_task_owner {
 public:
  /// Starts `x` on the loop's thread, which the caller is.
  template <class X>
  spawned(loop& on, X x, std::stop_token stop = {}) : loop_(on) {
    weft::detail::run_loop::inside here(on);
    weft::detail::start_detached(*this, on.task_environment(std::move(stop)), std::move(x),
                                 [](auto&&...) {});
  }

  bool ended() const noexcept { return ended_.load(); }

  /// Drives the loop until the chain has ended, on any thread.
  void wait() { loop_.run_until_done(ended_); }

  /// Throws the exception of the chain.
  void get() const {
    REQUIRE(ended());
    if (failure_) std::rethrow_exception(failure_);
  }

  /// The error of the chain; ok if it did not fail. Foreign exceptions propagate.
  weft::errc failure() const {
    try {
      get();
      return weft::errc::ok;
    } catch (const weft::error& e) {
      return e.kind();
    }
  }

  void task_ended(std::exception_ptr failure) noexcept override {
    failure_ = std::move(failure);
    if (weft::detail::run_loop::here() == &loop_)
      ended_ = true;
    else
      loop_.post(end_);  // wakes the loop, and completes on its thread
  }

 private:
  struct end_errand final : weft::operation {
    explicit end_errand(spawned& s) noexcept
        : operation(
              [](operation& op) noexcept { static_cast<end_errand&>(op).whose.ended_ = true; }),
          whose(s) {}
    spawned& whose;
  };

  loop& loop_;
  std::exception_ptr failure_;
  std::atomic<bool> ended_{false};
  end_errand end_{*this};
};

class box_operation;

/// Numbers come in, `get` takes them out in order. Any thread.
class box {
 public:
  explicit box(loop& l) : loop_(l) { values_.reserve(1024); }  // tests count allocations

  struct request {
    using value_type = int;
    using operation_type = box_operation;
    box* from;
  };
  request get() noexcept { return {this}; }

  void put(int value);           ///< ends the oldest get, or waits for the next one
  void fail(weft::errc status);  ///< ends the oldest get
  std::size_t waiting() const {
    std::lock_guard lock(mutex_);
    return waiting_;
  }

  bool refuses_to_stop = false;  ///< its operations can no longer be cancelled
  std::atomic<int> cancels{0};   ///< how often a cancel arrived

 private:
  friend class box_operation;
  loop& loop_;
  mutable std::mutex mutex_;
  box_operation* oldest() noexcept;
  bool remove(box_operation& op) noexcept;

  std::vector<int> values_;
  std::size_t taken_ = 0;  // of values_
  box_operation* first_ = nullptr;
  box_operation* last_ = nullptr;
  std::size_t waiting_ = 0;
};

class box_operation : public weft::operation {
 public:
  box_operation(const box::request& r, complete_fn f) noexcept : operation(f), box_(*r.from) {}

  bool start() noexcept {
    std::unique_lock lock(box_.mutex_);
    if (cancelled_) {
      status = weft::errc::stopped;
      return true;
    }
    if (box_.taken_ < box_.values_.size()) {
      value_ = box_.values_[box_.taken_++];
      return true;
    }
    before_ = box_.last_;
    (box_.last_ ? box_.last_->after_ : box_.first_) = this;
    box_.last_ = this;
    ++box_.waiting_;
    waits_ = true;
    return false;
  }

  void cancel() noexcept {
    ++box_.cancels;
    {
      std::lock_guard lock(box_.mutex_);
      if (box_.refuses_to_stop) return;
      cancelled_ = true;
      if (!box_.remove(*this)) return;
    }
    box_.loop_.end(*this, weft::errc::stopped);
  }

  int take() const noexcept { return value_; }
  std::string explain() const { return "the box says so"; }

 private:
  friend class box;
  box& box_;
  box_operation* before_ = nullptr;
  box_operation* after_ = nullptr;
  bool waits_ = false;
  int value_ = 0;
  bool cancelled_ = false;
};

/// With the mutex held. \return false if it does not wait
inline bool box::remove(box_operation& op) noexcept {
  if (!op.waits_) return false;
  (op.before_ ? op.before_->after_ : first_) = op.after_;
  (op.after_ ? op.after_->before_ : last_) = op.before_;
  op.waits_ = false;
  --waiting_;
  return true;
}

/// With the mutex held: removes the operation that has waited longest; null if there is none.
inline box_operation* box::oldest() noexcept {
  box_operation* op = first_;
  if (op) remove(*op);
  return op;
}

inline void box::put(int value) {
  box_operation* op = nullptr;
  {
    std::lock_guard lock(mutex_);
    op = oldest();
    if (!op) {
      if (taken_ == values_.size()) {
        values_.clear();
        taken_ = 0;
      }
      return values_.push_back(value);
    }
    op->value_ = value;
  }
  loop_.end(*op, weft::errc::ok);
}

inline void box::fail(weft::errc status) {
  box_operation* op = nullptr;
  {
    std::lock_guard lock(mutex_);
    op = oldest();
  }
  REQUIRE(op);
  loop_.end(*op, status);
}

}  // namespace manual
