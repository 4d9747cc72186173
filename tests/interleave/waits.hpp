// SPDX-License-Identifier: Apache-2.0
// For scenarios of waits: a substitute of std::mutex that fails when it is used after its end, and
// a coroutine. Included before all headers of weft.
#pragma once

#include "substitute.hpp"

#include <coroutine>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace waits {

/// Whether a mutex was used after its end. Code that may not throw uses it, so the scenario looks
/// at the end.
inline bool used_after_end = false;

class mutex {
 public:
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex() { ended_.store(true); }

  void lock() {
    while (held_.load() || held_.exchange(true)) interleave::wait_for_change();
    if (ended_.load()) used_after_end = true;
  }
  bool try_lock() { return !held_.load() && !held_.exchange(true); }
  void unlock() {
    if (ended_.load()) used_after_end = true;
    held_.store(false, std::memory_order_release);
  }

 private:
  interleave::atomic<bool> held_{false};
  interleave::atomic<bool> ended_{false};
};

/// A coroutine that counts how often it was resumed after its wait. It never ends, so that a second
/// resume is counted, too.
class counting_coroutine {
 public:
  struct promise_type {
    counting_coroutine get_return_object() noexcept {
      return counting_coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept {}
  };

  counting_coroutine() noexcept = default;
  explicit counting_coroutine(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  counting_coroutine(counting_coroutine&& other) noexcept
      : frame_(std::exchange(other.frame_, nullptr)) {}
  counting_coroutine& operator=(counting_coroutine&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~counting_coroutine() {
    if (frame_) frame_.destroy();
  }

 private:
  std::coroutine_handle<promise_type> frame_;
};

struct counts {
  int well = 0;    ///< waits that ended with a value
  int failed = 0;  ///< and those that were stopped or closed
};

template <class Wait>
counting_coroutine count(Wait& wait, counts& n) {
  try {
    co_await wait;
    ++n.well;
  } catch (const std::exception&) {
    ++n.failed;
  }
  for (;;) {
    co_await std::suspend_always();
    ++n.well;
  }
}

}  // namespace waits

namespace weft::std {
using mutex = ::waits::mutex;
namespace this_thread {
inline void yield() { ::interleave::wait_for_change(); }
}  // namespace this_thread
}  // namespace weft::std
