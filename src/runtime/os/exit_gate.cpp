// SPDX-License-Identifier: Apache-2.0
#include "runtime/os/exit_gate.hpp"

#include <pthread.h>
#include <time.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <new>

namespace weft::runtime {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds longest_wait{1};
constexpr timespec between_looks{0, 50'000};

/// `exit` concerns the whole process, and its handlers get no argument: so the gates are found by a
/// global list. It is never destroyed, and knows no context.
struct all_gates {
  std::mutex mutex;
  exit_gate* first = nullptr;
};
constinit all_gates all;

/// The parent's threads do not exist in the child, and one of them may have held the mutex.
void forget_the_parents() noexcept { ::new (static_cast<void*>(&all)) all_gates(); }

void prepare_for_fork() noexcept {
  static const int done = pthread_atfork(nullptr, nullptr, &forget_the_parents);
  static_cast<void>(done);
}

void expect_exit_of_first() noexcept {
  static const int done = std::atexit([] { exit_gate::close_all(); });
  static_cast<void>(done);
}

/// Does not wait without limit: the calling thread may be in a signal handler and hold the mutex.
bool lock_before(std::unique_lock<std::mutex>& lock, steady_clock::time_point late) noexcept {
  while (!lock.try_lock()) {
    if (steady_clock::now() > late) return false;
    ::nanosleep(&between_looks, nullptr);
  }
  return true;
}

}  // namespace

exit_gate::exit_gate(void (*wake)(void*), void* argument) noexcept
    : wake_(wake), argument_(argument) {
  prepare_for_fork();
  expect_exit_of_first();
  const std::lock_guard lock(all.mutex);
  after_ = all.first;
  if (after_) after_->before_ = this;
  all.first = this;
}

exit_gate::~exit_gate() {
  if (process_ != ::getpid()) return;
  const std::lock_guard lock(all.mutex);
  (before_ ? before_->after_ : all.first) = after_;
  if (after_) after_->before_ = before_;
}

const void* exit_gate::this_thread() noexcept {
  static thread_local char place;
  return &place;
}

bool exit_gate::is_at_rest() const noexcept {
  return !at_work_.load(std::memory_order_seq_cst) ||
         worker_.load(std::memory_order_relaxed) == this_thread();
}

void exit_gate::stand_still() noexcept {
  at_work_.store(false, std::memory_order_seq_cst);
  do {
    closed_.wait(1, std::memory_order_seq_cst);
    at_work_.store(true, std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_seq_cst) == 0) return;
    at_work_.store(false, std::memory_order_seq_cst);
  } while (true);
}

void exit_gate::close_all() noexcept {
  const auto late = steady_clock::now() + longest_wait;
  std::unique_lock lock(all.mutex, std::defer_lock);
  if (!lock_before(lock, late)) return;
  for (exit_gate* g = all.first; g; g = g->after_) {
    if (g->for_good_) continue;
    g->closed_.store(1, std::memory_order_seq_cst);
    if (g->wake_ && !g->is_at_rest()) g->wake_(g->argument_);
  }
  for (const exit_gate* g = all.first; g; g = g->after_)
    while (!g->for_good_ && !g->is_at_rest() && steady_clock::now() < late)
      ::nanosleep(&between_looks, nullptr);
}

void exit_gate::open() noexcept {
  closed_.store(0, std::memory_order_seq_cst);
  closed_.notify_all();
}

void exit_gate::open_all() noexcept {
  const std::unique_lock lock(all.mutex, std::try_to_lock);
  if (!lock)
    return;  // they are being closed, or one is added or removed: tried again at the next check
  for (exit_gate* g = all.first; g; g = g->after_) g->open();
}

void exit_gate::open_for_good() noexcept {
  const std::lock_guard lock(all.mutex);
  for_good_ = true;
  open();
}

void exit_gate::expect_exit() noexcept {
  static const int done = std::atexit([] { exit_gate::close_all(); });
  static_cast<void>(done);
}

}  // namespace weft::runtime
