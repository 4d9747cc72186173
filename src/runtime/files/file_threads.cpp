// SPDX-License-Identifier: Apache-2.0
// File jobs on threads: where io_uring is forbidden, and for calls that it does not make.
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include <weft/error.hpp>

#include "runtime/files/file_calls.hpp"
#include "runtime/files/file_job_list.hpp"
#include "runtime/os/exit_gate.hpp"
#include "runtime/os/own_thread.hpp"

namespace weft::runtime {
namespace {

using detail::file_job;

// Calls that wait for a disk; more of them at a time than this seldom make it faster.
constexpr std::size_t most_threads = 4;

class file_threads final : public file_calls {
 public:
  explicit file_threads(executor& home) noexcept : home_(home) {}
  ~file_threads() override { close(); }

  const char* name() const noexcept override { return "threads"; }

  bool start(file_job& j) noexcept override {
    std::unique_lock lock(mutex_);
    if (j.cancelled || closed_) return end_unstarted(j);
    if (queued_ >= idle_ && threads_.size() < most_threads) add_thread();
    if (threads_.empty()) {
      lock.unlock();
      call_now(j);  // no thread can be started: better late than never
      return true;
    }
    queue_.push(j);
    ++queued_;
    changed_.notify_one();
    return false;
  }

  void cancel(file_job& j) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      if (j.what == file_job::call::close) return;
      j.cancelled = true;
      if (!queue_.remove(j)) return;  // not started yet, or a thread is making the call
      --queued_;
      j.status = errc::stopped;
    }
    complete(j);
  }

  void close() noexcept override {
    file_job_list left;
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      left = std::exchange(queue_, {});
    }
    changed_.notify_all();
    while (file_job* j = left.pop())
      if (end_unstarted(*j)) complete(*j);
    for (worker& w : threads_) {
      w.gate.open_for_good();
      if (w.thread.joinable()) w.thread.join();
    }
  }

 private:
  struct worker {
    exit_gate gate{};
    std::thread thread;
  };

  /// A closed descriptor must not stay open for want of a thread.
  bool end_unstarted(file_job& j) const noexcept {
    if (j.what == file_job::call::close)
      call_now(j);
    else
      j.status = j.cancelled ? errc::stopped : errc::closed;
    return true;
  }

  void complete(file_job& j) noexcept { (j.on ? *j.on : home_).post(j); }

  /// With the mutex held.
  void add_thread() noexcept {
    try {
      worker& w = threads_.emplace_back();
      try {
        w.thread = start_own_thread("weft-file", "thread for files", [this, &w] { work(w.gate); });
        ++idle_;
      } catch (...) {
        threads_.pop_back();
      }
    } catch (const std::bad_alloc&) {
      // Those that there are do it.
    }
  }

  void work(exit_gate& gate) noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
      file_job* const j = queue_.pop();
      if (!j) return;
      --queued_;
      --idle_;
      lock.unlock();
      gate.begin_work();
      call_now(*j);
      complete(*j);
      gate.end_work();
      lock.lock();
      ++idle_;
    }
  }

  executor& home_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  bool closed_ = false;
  file_job_list queue_;
  std::size_t queued_ = 0;
  std::size_t idle_ = 0;  // threads that wait for a job, or are about to
  std::list<worker> threads_;
};

}  // namespace

std::unique_ptr<file_calls> make_file_threads(executor& home) {
  return std::make_unique<file_threads>(home);
}

}  // namespace weft::runtime
