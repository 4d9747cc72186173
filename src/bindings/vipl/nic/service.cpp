// SPDX-License-Identifier: Apache-2.0
#include "bindings/vipl/nic/service.hpp"

namespace weft::vipl {

void service::job_list::push(std::unique_ptr<job> j) noexcept {
  std::unique_ptr<job>& end = first_ ? last_->next_ : first_;
  end = std::move(j);
  last_ = end.get();
}

std::unique_ptr<service::job> service::job_list::pop() noexcept {
  std::unique_ptr<job> taken = std::move(first_);
  if (taken) first_ = std::move(taken->next_);
  return taken;
}

void service::start(std::function<void()> attend, std::function<void()> visit) {
  attend_ = std::move(attend);
  visit_ = std::move(visit);
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

void service::add(std::unique_ptr<job> j) noexcept {
  const std::lock_guard lock(mutex_);
  jobs_.push(std::move(j));
  changed_.notify_all();
}

void service::visit_soon() noexcept {
  const std::lock_guard lock(mutex_);
  visits_ = true;
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
  return has_to_do() || !should_attend();
}

void service::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return has_to_do() || should_attend(); });
    const bool visits = std::exchange(visits_, false);
    std::unique_ptr<job> next = jobs_.pop();
    if (!visits && !next && ends_) return;
    lock.unlock();
    if (visits)
      visit_();
    else if (!next)
      attend_();
    if (next) next->run();
    next.reset();
    lock.lock();
  }
}

}  // namespace weft::vipl
