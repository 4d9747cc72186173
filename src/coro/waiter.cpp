// SPDX-License-Identifier: Apache-2.0
#include <weft/coro/detail/waiter.hpp>

#include <string>
#include <thread>

namespace weft::detail {

bool waiter::enter() noexcept {
  auto unasked = fresh;
  if (!state_.compare_exchange_strong(unasked, waiting, std::memory_order_acq_rel)) {
    status = errc::stopped;
    return false;
  }
  place_.push(*this);
  return true;
}

void waiter::stop() noexcept {
  // The claim comes first: a waiter that another thread has claimed may outlive the list.
  if (!claim()) return;
  {
    const std::lock_guard lock(lock_);
    place_.remove(*this);
  }
  status = errc::stopped;
  resume();
}

void waiter_list::await_stopping(std::unique_lock<std::mutex>& lock) const noexcept {
  while (!empty()) {
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
}

error wait_failure(errc status, const char* what) {
  const std::string name(what);
  if (status == errc::stopped) return error(status, "asked to stop while waiting for " + name);
  return error(status, name + " was closed or destroyed while a coroutine waited for it");
}

}  // namespace weft::detail
