// SPDX-License-Identifier: Apache-2.0
// The library's own thread of a NIC: calls the application's callbacks, and what a handler of
// messages may not do itself.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace weft::vipl {

/// Runs jobs in order. Sleeps without one, unless it is asked to attend: then it makes progress for
/// the NIC, so that callbacks come while the application computes. Any thread.
class service {
 public:
  service() = default;
  service(const service&) = delete;
  service& operator=(const service&) = delete;
  ~service() { end(), join(); }

  /// Once. \param attend makes progress until there is a job, or attending is over
  void start(std::function<void()> attend);
  void end() noexcept;   ///< the thread ends when it has run the jobs that are there
  void join() noexcept;  ///< waits for that

  void add(std::function<void()> job);
  /// Whether callbacks are awaited: a count of reasons.
  void attend(int change) noexcept;
  /// The application's threads that wait and so make progress: meanwhile this thread does not.
  void application_waits(int change) noexcept;
  /// What ends `attend`. Any thread.
  bool wanted() const noexcept;
  bool runs_here() const noexcept { return its_id_.load() == std::this_thread::get_id(); }

 private:
  bool should_attend() const noexcept { return reasons_ > 0 && waiters_ == 0; }
  void run();

  std::function<void()> attend_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::atomic<int> reasons_{0};  // these two change with or without the lock
  std::atomic<int> waiters_{0};
  bool ends_ = false;
  std::atomic<std::thread::id> its_id_{};
  std::thread thread_;
};

}  // namespace weft::vipl
