// SPDX-License-Identifier: Apache-2.0
// The two ways to make the calls of file jobs.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <weft/coro/executor.hpp>
#include <weft/detail/fd_wait.hpp>
#include <weft/detail/file_job.hpp>

namespace weft::runtime {

/// A file service with an end. Owned by the engine.
class file_calls : public detail::file_service {
 public:
  /// "io_uring" or "threads".
  virtual const char* name() const noexcept = 0;

  /// Ends every job: cancels what can be cancelled, waits for the rest. Later jobs end with
  /// errc::closed at once; only `close` is still done, by the thread that asks. Not in
  /// a job's completion.
  virtual void close() noexcept = 0;
};

/// Makes calls on up to four threads of its own, which start when they are needed.
/// \param home completes jobs whose `on` is null
std::unique_ptr<file_calls> make_file_threads(executor& home);

/// Makes calls by an io_uring of its own; by threads what the ring does not take.
/// \param home  as above
/// \param waits waits for the ring's descriptor
/// \throws weft::error (unsupported) with the reason, when io_uring does not work on this host
std::unique_ptr<file_calls> make_file_ring(executor& home, detail::fd_wait_service& waits);

/// Tries a ring as make_file_ring does. \return empty, or why it does not work
std::string probe_file_ring();

/// The result of make_file_calls.
struct file_calls_choice {
  std::unique_ptr<file_calls> calls;
  std::string reason;  ///< empty, or why io_uring is not used
};

/// \param wanted as for make_wait_set: "auto", "uring" or "epoll", which stands for threads
file_calls_choice make_file_calls(std::string_view wanted, executor& home,
                                  detail::fd_wait_service& waits);

/// Makes the call on this thread. It may block.
void call_now(detail::file_job& j) noexcept;

/// The file service of a context, made by its first job: a context without files pays nothing for
/// it. Owned by the engine. Any thread.
class lazy_file_calls final : public detail::file_service {
 public:
  /// \param wanted, home, waits as for make_file_calls
  lazy_file_calls(std::string wanted, executor& home, detail::fd_wait_service& waits) noexcept
      : wanted_(std::move(wanted)), home_(home), waits_(waits) {}

  bool start(detail::file_job& j) noexcept override;
  void cancel(detail::file_job& j) noexcept override;
  void close() noexcept;  ///< as file_calls::close

  /// For engine::describe: how calls are made; empty before the first job.
  std::string describe() const;

 private:
  file_calls* calls();

  const std::string wanted_;
  executor& home_;
  detail::fd_wait_service& waits_;
  mutable std::mutex mutex_;  // guards the members below
  bool closed_ = false;
  file_calls_choice choice_;
};

}  // namespace weft::runtime
