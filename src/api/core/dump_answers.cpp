// SPDX-License-Identifier: Apache-2.0
#include "api/core/dump_answers.hpp"

#include <exception>
#include <optional>
#include <utility>

#include "runtime/os/own_thread.hpp"

namespace weft::detail {

namespace {

std::string made(dump_report& from, dump_format as) {
  try {
    return from.make(as);
  } catch (const std::exception& e) {
    return std::string("no dump: ") + e.what() + '\n';
  }
}

}  // namespace

void dump_answers::ask(dump_format as, answer told) {
  bool has_room = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    has_room = waiting_.size() < most_waiting;
    if (has_room) {
      waiting_.push_back({as, std::move(told)});
      if (std::exchange(runs_, true)) return;
    }
  }
  if (!has_room) return told("no dump: others are being made, try again\n");
  try {
    if (thread_.joinable()) thread_.join();  // it has ended
    thread_ = runtime::start_own_thread("weft-dump", "thread for dumps", [this] { loop(); });
  } catch (const std::exception& e) {
    std::deque<question> all;
    {
      const std::lock_guard lock(mutex_);
      runs_ = false;
      all.swap(waiting_);
    }
    for (const question& q : all) q.told(std::string("no dump: ") + e.what() + '\n');
  }
}

void dump_answers::loop() noexcept {
  exit_gate_.begin_work();
  for (;;) {
    std::optional<question> next;
    {
      const std::lock_guard lock(mutex_);
      runs_ = !closed_ && !waiting_.empty();
      if (!runs_) break;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    try {
      next->told(made(report_, next->as));
    } catch (const std::exception&) {
      // No memory: the other side waits until its own limit.
    }
    exit_gate_.pass();
  }
  exit_gate_.end_work();
}

void dump_answers::close() noexcept {
  exit_gate_.open_for_good();
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waiting_.clear();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace weft::detail
