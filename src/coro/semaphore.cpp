// SPDX-License-Identifier: Apache-2.0
#include <weft/coro/semaphore.hpp>

namespace weft {

semaphore::~semaphore() {
  detail::ended_waits ended;
  std::unique_lock lock(mutex_);
  ended.add_all(waiting_, errc::closed);
  waiting_.await_stopping(lock);
}

bool semaphore::try_acquire() noexcept {
  const std::lock_guard lock(mutex_);
  if (permits_ == 0) return false;
  --permits_;
  return true;
}

void semaphore::release(std::size_t n) noexcept {
  detail::ended_waits ended;
  const std::lock_guard lock(mutex_);
  for (; n != 0; --n) {
    detail::waiter* const next = waiting_.claim_first();
    if (!next) break;
    ended.add(*next);
  }
  permits_ += n;
}

acquire_awaiter::acquire_awaiter(semaphore& s) noexcept
    : wait_awaiter(s.mutex_, s.waiting_), of_(s) {}

bool acquire_awaiter::try_now() noexcept { return of_.try_acquire(); }

bool acquire_awaiter::start() noexcept {
  const std::lock_guard lock(of_.mutex_);
  if (of_.permits_ == 0) return enter();
  --of_.permits_;
  return false;
}

}  // namespace weft
