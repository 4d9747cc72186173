// SPDX-License-Identifier: Apache-2.0
// Selects the polling thread among several threads inside run().
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "runtime/lock/progress_lock.hpp"

namespace weft::runtime {

/// One thread leads; the others follow: they wait for their own end, or for the leader's place. So
/// coroutines of a context never run in parallel. A leader may take the place again, deeper in its
/// own stack. Each follower sleeps by itself, so that the leader wakes only those whose end has
/// come, and one when it resigns: a follower that wakes for nothing takes a core and the mutex from
/// the leader. Owned by the engine; any thread. Model: tests/models/followers.pml. In every order:
/// tests/interleave/leadership.cpp.
class leadership {
 public:
  explicit leadership(const progress_lock& lock) noexcept : lock_(lock) {}

  /// The result of waiting for the place.
  enum class outcome : std::uint8_t {
    leads,          ///< resign() gives the place back
    leads_already,  ///< the calling thread had the place before
    done,           ///< the awaited end has come
  };

  /// Takes the place as soon as it is free, unless `done` comes first.
  outcome take(const std::atomic<bool>& done) noexcept;
  /// Takes the place if it is free now.
  bool try_take() noexcept;
  void resign() noexcept;

  /// The leader has completed operations: wakes the followers that are done. A follower counts
  /// itself and then reads its `done`; this thread has written that `done` and now reads the count.
  /// The follower makes both sides fence (take), where the kernel allows it.
  void notify_followers() noexcept {
    if (!lock_.can_bias()) [[unlikely]]
      std::atomic_thread_fence(std::memory_order_seq_cst);
    if (followers_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake_followers();
  }

  /// Whether another thread leads, as far as can be told without waiting.
  bool is_taken() noexcept;

 private:
  /// A thread that sleeps until it is woken. Lives on its stack; guarded by mutex_, but for `done`.
  struct follower {
    const std::atomic<bool>& done;
    std::condition_variable changed{};
    bool woken = false;
    follower* next = nullptr;
  };

  void follow(std::unique_lock<std::mutex>& lock, const std::atomic<bool>& done) noexcept;
  void add(follower& one) noexcept;
  void wake(follower** link) noexcept;
  void wake_first() noexcept;
  void wake_done() noexcept;
  void wake_followers() noexcept;

  const progress_lock& lock_;
  std::mutex mutex_;
  bool led_ = false;           // guarded by mutex_
  std::thread::id leader_;     // guarded by mutex_
  follower* first_ = nullptr;  // guarded by mutex_; oldest first
  follower** last_ = &first_;
  std::atomic<int> followers_{0};
};

}  // namespace weft::runtime
