// SPDX-License-Identifier: Apache-2.0
#include <weft/coro/event.hpp>

namespace weft {

event::~event() {
  detail::ended_waits ended;
  std::unique_lock lock(mutex_);
  ended.add_all(waiting_, errc::closed);
  waiting_.await_stopping(lock);
}

void event::set() noexcept {
  detail::ended_waits ended;
  const std::lock_guard lock(mutex_);
  set_ = true;
  ended.add_all(waiting_);
}

void event::reset() noexcept {
  const std::lock_guard lock(mutex_);
  set_ = false;
}

bool event::is_set() const noexcept {
  const std::lock_guard lock(mutex_);
  return set_;
}

event_awaiter::event_awaiter(event& e) noexcept : wait_awaiter(e.mutex_, e.waiting_), of_(e) {}

bool event_awaiter::try_now() const noexcept { return of_.is_set(); }

bool event_awaiter::start() noexcept {
  const std::lock_guard lock(of_.mutex_);
  return !of_.set_ && enter();
}

}  // namespace weft
