// SPDX-License-Identifier: Apache-2.0
// The library's own thread of a NIC: calls the application's callbacks, and what a handler of
// messages may not do itself.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace weft::vipl {

/// Runs jobs in order. Sleeps without one, unless it is asked to attend: then it makes progress for
/// the NIC, so that callbacks come while the application computes. Any thread.
class service {
 public:
  /// Made where there is memory for it, and added where there may be none.
  class job {
   public:
    virtual ~job() = default;
    virtual void run() = 0;

   private:
    friend class service;
    std::unique_ptr<job> next_;
  };
  template <class F>
  class job_of final : public job {
   public:
    explicit job_of(F f) : f_(std::move(f)) {}
    void run() override { f_(); }

   private:
    F f_;
  };

  /// Jobs in order, linked through themselves.
  class job_list {
   public:
    job_list() = default;
    job_list(const job_list&) = delete;
    job_list& operator=(const job_list&) = delete;
    ~job_list() {
      while (pop()) continue;  // one by one: a long list must not end by recursion
    }
    bool empty() const noexcept { return !first_; }
    void push(std::unique_ptr<job> j) noexcept;
    std::unique_ptr<job> pop() noexcept;

   private:
    std::unique_ptr<job> first_;
    job* last_ = nullptr;
  };

  service() = default;
  service(const service&) = delete;
  service& operator=(const service&) = delete;
  ~service() { end(), join(); }

  /// Once.
  /// \param attend makes progress until there is a job, or attending is over
  /// \param visit  of `visit_soon`
  void start(std::function<void()> attend, std::function<void()> visit);
  void end() noexcept;   ///< the thread ends when it has run the jobs that are there
  void join() noexcept;  ///< waits for that

  void add(std::unique_ptr<job> j) noexcept;
  /// Calls `visit` once, soon; several calls of this may become one of `visit`.
  void visit_soon() noexcept;
  /// Whether callbacks are awaited: a count of reasons.
  void attend(int change) noexcept;
  /// The application's threads that wait and so make progress: meanwhile this thread does not.
  void application_waits(int change) noexcept;
  /// What ends `attend`. Any thread.
  bool wanted() const noexcept;
  bool runs_here() const noexcept { return its_id_.load() == std::this_thread::get_id(); }

 private:
  bool should_attend() const noexcept { return reasons_ > 0 && waiters_ == 0; }
  bool has_to_do() const noexcept { return ends_ || visits_ || !jobs_.empty(); }
  void run();

  std::function<void()> attend_, visit_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  job_list jobs_;
  bool visits_ = false;
  std::atomic<int> reasons_{0};  // these two change with or without the lock
  std::atomic<int> waiters_{0};
  bool ends_ = false;
  std::atomic<std::thread::id> its_id_{};
  std::thread thread_;
};

}  // namespace weft::vipl
