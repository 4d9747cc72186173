// SPDX-License-Identifier: Apache-2.0
#include "wireup/loop.hpp"

#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <exception>

namespace weft::wireup {

loop::loop() : work_(io_.get_executor()) {
  // Asio opens its descriptors when they are first needed. Now is when a failure can be told.
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
}

loop::~loop() {
  if (thread_.joinable()) finish([] {});
}

void loop::run() {
  pthread_setname_np(pthread_self(), "weft-wireup");
  for (;;) {
    try {
      io_.run();
      return;
    } catch (const std::exception& e) {
      // A handler of the application threw. The other connections have no part in that.
      std::fprintf(stderr, "weft: an exception left a handler of the control plane: %s\n",
                   e.what());
    }
  }
}

bool loop::enqueue(task_ptr t) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return false;
    first = tasks_.empty();
    tasks_.push_back(std::move(t));
    // Inside the lock, so that the context cannot run out of work and end in between.
    if (first) asio::post(io_, [this] { drain(); });
  }
  return true;
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
      std::fprintf(stderr, "weft: an exception left a task of the control plane: %s\n", e.what());
    }
  }
}

void loop::finish_with(task_ptr last) {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    tasks_.push_back(std::move(last));
    if (tasks_.size() == 1) asio::post(io_, [this] { drain(); });
  }
  work_.reset();
  if (thread_.joinable()) thread_.join();
}

}  // namespace weft::wireup
