// SPDX-License-Identifier: Apache-2.0
#include "runtime/completion_thread.hpp"

#include "runtime/own_thread.hpp"

namespace weft::runtime {

completion_thread::completion_thread()
    : thread_(
          start_own_thread("weft-completion", "second progress thread", [this] { hand_on(); })) {}

completion_thread::~completion_thread() {
  gate_.open_for_good();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void completion_thread::take(operation_list& ended) noexcept {
  {
    const std::lock_guard lock(mutex_);
    ended_.append(ended);
  }
  changed_.notify_one();
}

void completion_thread::hand_on() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !ended_.empty(); });
    operation_list all = ended_.take();
    if (all.empty()) return;
    lock.unlock();
    gate_.begin_work();
    while (operation* op = all.pop()) op->on->post(*op);
    gate_.end_work();
    lock.lock();
  }
}

}  // namespace weft::runtime
