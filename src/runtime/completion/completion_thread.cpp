// SPDX-License-Identifier: Apache-2.0
#include "runtime/completion/completion_thread.hpp"

#include <utility>

#include "runtime/os/own_thread.hpp"

namespace weft::runtime {

completion_thread::completion_thread(std::function<void()> read)
    : read_(std::move(read)),
      thread_(start_own_thread("weft-completion", "second progress thread", [this] { work(); })) {}

completion_thread::~completion_thread() {
  gate_.open_for_good();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void completion_thread::ring() noexcept {
  {
    const std::lock_guard lock(mutex_);
    rung_ = true;
  }
  changed_.notify_one();
}

void completion_thread::take(operation_list& ended) noexcept {
  {
    const std::lock_guard lock(mutex_);
    ended_.append(ended);
  }
  changed_.notify_one();
}

void completion_thread::work() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || rung_ || !ended_.empty(); });
    operation_list all = ended_.take();
    const bool rung = std::exchange(rung_, false);
    if (all.empty() && !rung) return;
    lock.unlock();
    gate_.begin_work();
    if (rung) read_();
    while (operation* op = all.pop()) op->on->post(*op);
    gate_.end_work();
    lock.lock();
  }
}

}  // namespace weft::runtime
