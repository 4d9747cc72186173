// SPDX-License-Identifier: Apache-2.0
#include "wireup/loop/loop.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>
#include <weft/error.hpp>

#include "runtime/descriptors/standard_descriptors.hpp"
#include "runtime/os/errno_hint.hpp"

namespace weft::wireup {

loop::loop(std::function<void()> recover, runtime::log_ptr reports) try
    : work_(io_.get_executor()),
      recover_(std::move(recover)),
      log_(std::move(reports)),
      gate_(&to_gate, this) {
  runtime::keep_standard_numbers();
  // Asio opens its descriptors on first use. This timer makes it open them now, where a failure can
  // be reported.
  const asio::steady_timer first_need(io_);
  // A new thread inherits the mask of its creator.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
} catch (const std::system_error& e) {
  // For a thread: EAGAIN, also when there is no address space for its stack.
  const int fault = e.code().value();
  throw error(errc::system,
              fmt::format("cannot start a thread of the control plane: {}; {}", e.what(),
                          fault == EAGAIN ? "raise the limit on threads (ulimit -u) or address "
                                            "space (ulimit -v)"
                                          : runtime::errno_hint(fault)));
}

loop::~loop() {
  if (thread_.joinable()) end([] {});
}

void loop::run() {
  pthread_setname_np(pthread_self(), "weft-wireup");
  gate_.begin_work();
  do run_out();
  while (goes_on());
  gate_.end_work();
}

/// Runs until no work is left, or until the io_context is stopped.
void loop::run_out() {
  for (;;) {
    try {
      io_.run();
      return;
    } catch (const std::exception& e) {
      tell(e);
    }
  }
}

void loop::to_gate(void* self) {
  loop& l = *static_cast<loop*>(self);
  l.to_gate_.store(true);
  l.io_.stop();
}

/// Whether the io_context was stopped only for the exit gate. If so, passes the gate.
bool loop::goes_on() {
  if (!to_gate_.exchange(false)) return false;
  gate_.pass();
  io_.restart();
  const std::lock_guard lock(mutex_);
  return !gives_up_;
}

/// An exception concerns only the handler or task that threw it. A lack of memory may concern
/// others too: `recover_` tells the requesters whose work was under way. That may lack memory as
/// well, and is repeated, while the data plane goes on and may free some.
void loop::tell(const std::exception& e) noexcept {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
  if (no_memory)
    log_->error("the control plane gives up what is under way: {}", e.what());
  else
    log_->error("an exception left a handler or task of the control plane: {}", e.what());
  if (no_memory) retry_on_bad_alloc(recover_);
}

bool loop::enqueue(task_ptr t) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return false;
    first = tasks_.empty();
    tasks_.push_back(std::move(t));
    // Inside the lock, so that the io_context cannot run out of work and end in between.
    if (first) call_drain();
  }
  return true;
}

/// Afterwards a `drain` is posted, or the list is empty.
void loop::call_drain() {
  try {
    asio::post(io_, [this] { drain(); });
  } catch (...) {
    tasks_.pop_back();
    throw;
  }
}

void loop::drain() {
  std::vector<task_ptr> batch;
  {
    const std::lock_guard lock(mutex_);
    batch.swap(tasks_);
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    try {
      batch[i]->run();
    } catch (const std::exception& e) {
      tell(e);
    }
  }
}

void loop::end_with(task_ptr last) {
  gate_.open_for_good();
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    const bool enough = last && retry_on_bad_alloc([&] {
                          tasks_.reserve(tasks_.size() + 1);
                          if (tasks_.empty()) asio::post(io_, [this] { drain(); });
                        });
    gives_up_ = !enough;
    if (enough)
      tasks_.push_back(std::move(last));
    else
      io_.stop();
  }
  work_.reset();
  if (thread_.joinable()) thread_.join();
}

}  // namespace weft::wireup
