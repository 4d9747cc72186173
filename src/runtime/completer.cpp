// SPDX-License-Identifier: Apache-2.0
#include "runtime/completer.hpp"

#include "runtime/own_thread.hpp"

namespace weft::runtime {

completer::completer()
    : thread_(start_own_thread("weft-completer", "second progress thread", [this] { hand_on(); })) {
}

completer::~completer() {
  gate_.open_for_good();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void completer::take(operation_list& ended) noexcept {
  {
    const std::lock_guard lock(mutex_);
    ended_.append(ended);
  }
  changed_.notify_one();
}

void completer::hand_on() noexcept {
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
