// SPDX-License-Identifier: Apache-2.0
#include "runtime/lock/leadership.hpp"

#include "runtime/os/membarrier.hpp"

namespace weft::runtime {

leadership::outcome leadership::take(const std::atomic<bool>& done) noexcept {
  std::unique_lock lock(mutex_);
  if (led_ && leader_ == std::this_thread::get_id()) return outcome::leads_already;
  while (led_) {
    follow(lock, done);
    if (!done.load(std::memory_order_acquire)) continue;
    if (!led_) wake_first();  // it may have been this thread's turn to lead
    return outcome::done;
  }
  led_ = true;
  leader_ = std::this_thread::get_id();
  return outcome::leads;
}

/// Sleeps until this thread is done, or the place may be free. The fence takes microseconds, in
/// which the leader may want the mutex.
void leadership::follow(std::unique_lock<std::mutex>& lock,
                        const std::atomic<bool>& done) noexcept {
  follower self{done};
  add(self);
  followers_.fetch_add(1, std::memory_order_seq_cst);
  lock.unlock();
  if (!lock_.can_bias())
    std::atomic_thread_fence(std::memory_order_seq_cst);  // the count above is not one on arm64
  else
    private_fence();
  lock.lock();
  if (done.load(std::memory_order_acquire)) wake_done();
  self.changed.wait(lock, [&self] { return self.woken; });
}

bool leadership::try_take() noexcept {
  const std::lock_guard lock(mutex_);
  if (led_) return false;
  led_ = true;
  leader_ = std::this_thread::get_id();
  return true;
}

void leadership::resign() noexcept {
  const std::lock_guard lock(mutex_);
  led_ = false;
  wake_done();
  wake_first();
}

void leadership::wake_followers() noexcept {
  const std::lock_guard lock(mutex_);
  wake_done();
}

void leadership::add(follower& one) noexcept {
  *last_ = &one;
  last_ = &one.next;
}

void leadership::wake(follower** link) noexcept {
  follower& one = **link;
  *link = one.next;
  if (last_ == &one.next) last_ = link;
  followers_.fetch_sub(1, std::memory_order_relaxed);
  one.woken = true;
  one.changed.notify_one();
}

void leadership::wake_first() noexcept {
  if (first_) wake(&first_);
}

void leadership::wake_done() noexcept {
  for (follower** link = &first_; *link;) {
    if ((*link)->done.load(std::memory_order_acquire))
      wake(link);
    else
      link = &(*link)->next;
  }
}

bool leadership::is_taken() noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return !lock || led_;
}

}  // namespace weft::runtime
