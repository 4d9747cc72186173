// SPDX-License-Identifier: Apache-2.0
// One thread with one io_context, which runs all work of a control plane.
#pragma once

#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/descriptors/disposal.hpp"
#include "runtime/os/exit_gate.hpp"
#include "runtime/os/log.hpp"
#include "wireup/base/frame.hpp"
#include "wireup/loop/asio.hpp"
#include "wireup/loop/retry_on_bad_alloc.hpp"

namespace weft::wireup {

/// Owns the thread. Shared by the objects that may still post. After `end` everything posted is
/// dropped, so a late call from a thread of the application is harmless. The thread takes no
/// signals: they are for the application's threads.
class loop {
 public:
  /// \param recover called on the thread when there was no memory for a task or a handler: work
  /// under way there may never go on, and the requesters that wait for it have to be told. May
  /// throw std::bad_alloc, and is called again then
  /// \param reports told of exceptions that leave a handler or task
  /// \throws weft::error (system) when no descriptor or thread can be had
  explicit loop(
      std::function<void()> recover = [] {},
      runtime::log_ptr reports = runtime::log_on_standard_error());
  ~loop();
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;

  /// Runs `f` on the thread, in the order of the calls. Any thread; never blocks. False, and `f` is
  /// destroyed, when the loop has ended.
  template <class F>
  bool post(F f) {
    return enqueue(std::make_unique<task_of<F>>(std::move(f)));
  }

  /// Runs `last` on the thread, waits until everything under way has ended (`last` must end it),
  /// and joins the thread. Not on the thread itself. Without memory for `last`, the loop stops at
  /// once.
  template <class F>
  void end(F last) {
    task_ptr t;
    retry_on_bad_alloc([&] { t = std::make_unique<task_of<F>>(last); });
    end_with(std::move(t));
  }

  bool on_thread() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }

  /// The loop's thread only.
  asio::io_context& io() noexcept { return io_; }
  /// One buffer for all receiving connections, so that an idle connection needs none. The loop's
  /// thread only.
  std::span<std::byte> scratch() noexcept { return scratch_; }
  /// Closes sockets that others connect to or have accepted, and descriptors that came over them.
  const std::shared_ptr<runtime::disposal>& disposal() const noexcept { return disposal_; }

 private:
  struct task {
    virtual ~task() = default;
    virtual void run() = 0;
  };
  template <class F>
  struct task_of final : task {
    explicit task_of(F work) : f(std::move(work)) {}
    void run() override { f(); }
    F f;
  };
  using task_ptr = std::unique_ptr<task>;

  bool enqueue(task_ptr t);
  void end_with(task_ptr last);
  void drain();
  void run();
  void run_out();
  bool goes_on();
  static void to_gate(void* self);
  void call_drain();
  void tell(const std::exception& e) noexcept;

  // Outlives the io_context, whose last handlers may own sockets.
  const std::shared_ptr<runtime::disposal> disposal_ = std::make_shared<runtime::disposal>();
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::array<std::byte, frame_header::size + max_frame_body> scratch_;
  const std::function<void()> recover_;
  const runtime::log_ptr log_;
  std::mutex mutex_;
  std::vector<task_ptr> tasks_;  // guarded by mutex_
  bool finished_ = false;        // guarded by mutex_
  bool gives_up_ = false;        // guarded by mutex_: the loop ends at once, with work under way
  std::atomic<bool> to_gate_{false};
  runtime::exit_gate gate_;
  std::thread thread_;
};

}  // namespace weft::wireup
