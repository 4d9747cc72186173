// SPDX-License-Identifier: Apache-2.0
#include "bindings/vipl/service.hpp"

#include <utility>

namespace weft::vipl {

void service::start(std::function<void()> attend) {
  attend_ = std::move(attend);
  thread_ = std::thread([this] {
    its_id_ = std::this_thread::get_id();
    run();
  });
}

void service::end() noexcept {
  const std::lock_guard lock(mutex_);
  ends_ = true;
  changed_.notify_all();
}

void service::join() noexcept {
  if (thread_.joinable()) thread_.join();
}

void service::add(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  changed_.notify_all();
}

void service::attend(int change) noexcept {
  const std::lock_guard lock(mutex_);
  reasons_ += change;
  changed_.notify_all();
}

void service::application_waits(int change) noexcept {
  if (waiters_.fetch_add(change) + change != 0 || reasons_ == 0) return;
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

bool service::wanted() const noexcept {
  const std::lock_guard lock(mutex_);
  return ends_ || !jobs_.empty() || !should_attend();
}

void service::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || !jobs_.empty() || should_attend(); });
    if (!jobs_.empty()) {
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    } else if (ends_) {
      return;
    } else {
      lock.unlock();
      attend_();
      lock.lock();
    }
  }
}

}  // namespace weft::vipl
