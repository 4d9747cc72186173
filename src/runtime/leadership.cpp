// SPDX-License-Identifier: Apache-2.0
#include "runtime/leadership.hpp"

#include "runtime/membarrier.hpp"

namespace weft::runtime {

leadership::outcome leadership::take(const std::atomic<bool>& done) noexcept {
  std::unique_lock lock(mutex_);
  if (led_ && leader_ == std::this_thread::get_id()) return outcome::leads_already;
  if (led_) {
    followers_.fetch_add(1, std::memory_order_seq_cst);
    if (!lock_.can_bias())
      std::atomic_thread_fence(std::memory_order_seq_cst);  // the count above is not one on arm64
    else
      private_fence();
    changed_.wait(lock, [&] { return !led_ || done.load(std::memory_order_acquire); });
    followers_.fetch_sub(1, std::memory_order_relaxed);
    if (done.load(std::memory_order_acquire)) return outcome::done;
  }
  led_ = true;
  leader_ = std::this_thread::get_id();
  return outcome::leads;
}

bool leadership::try_take() noexcept {
  const std::lock_guard lock(mutex_);
  if (led_) return false;
  led_ = true;
  leader_ = std::this_thread::get_id();
  return true;
}

void leadership::resign() noexcept {
  {
    const std::lock_guard lock(mutex_);
    led_ = false;
  }
  changed_.notify_all();
}

/// A follower counts itself and then reads its `done`; this thread has written that `done` and now
/// reads the count. The follower makes both sides fence (take), where the kernel allows it.
void leadership::notify_followers() noexcept {
  if (!lock_.can_bias()) std::atomic_thread_fence(std::memory_order_seq_cst);
  if (followers_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

bool leadership::is_taken() noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return !lock || led_;
}

}  // namespace weft::runtime
