// SPDX-License-Identifier: Apache-2.0
// The completion queue that all transports of a context share.
#pragma once

#include <cstdint>

#include <weft/coro/operation.hpp>

#include "runtime/completion/remote_completion_queue.hpp"

namespace weft::runtime {

/// Counts the pending operations, and keeps those that have ended until a thread completes them:
/// the thread inside run() those with a null `on`, any thread that makes progress those of the
/// background executor, other executors the rest. Owned by the engine. Progress lock held, except
/// for remote().
class completion_queue {
 public:
  /// \param background compared with `on` only; null: there is none
  explicit completion_queue(const executor* background = nullptr) noexcept
      : background_executor_(background) {}

  void add_pending(const operation& op) noexcept {
    if (op.on) [[unlikely]]
      ++pending_elsewhere_;
    ++pending_;
  }
  /// As add_pending, for an operation with a null `on`.
  void add_pending_home() noexcept { ++pending_; }

  void remove_pending(const operation& op) noexcept {
    --pending_;
    if (op.on) [[unlikely]]
      --pending_elsewhere_;
  }

  /// Ends an operation that is no longer pending, or never was.
  void push(operation& op, errc status) noexcept {
    op.status = status;
    if (!op.on) [[likely]]
      home_.push(op);
    else if (op.on == background_executor_)
      background_.push(op);
    else
      elsewhere_.push(op);
  }
  /// Ends a pending operation with a null `on`, with success.
  void end_pending_home(operation& op) noexcept {
    --pending_;
    op.status = errc::ok;
    home_.push(op);
  }

  std::uint64_t pending() const noexcept { return pending_; }
  /// Whether an operation of a coroutine on another executor is pending.
  bool has_pending_elsewhere() const noexcept { return pending_elsewhere_ != 0; }

  /// Whether the holder of the progress lock has ended operations for the thread inside run().
  bool has_home() const noexcept { return !home_.empty(); }
  operation_list take_home() noexcept { return home_.take(); }
  /// Whether there is work for the thread inside run(): its own, that other threads have ended, or
  /// background work.
  bool has_for_caller() const noexcept {
    return !home_.empty() || !remote_.empty() || !background_.empty();
  }
  operation_list take_for_caller() noexcept {
    operation_list all = home_.take();
    append_posted(all);
    return all;
  }
  /// The same without the operations that have ended for it.
  operation_list take_posted() noexcept {
    operation_list all;
    append_posted(all);
    return all;
  }

  /// Adds work that never was pending.
  void post_background(operation& work) noexcept { background_.push(work); }
  bool has_background() const noexcept { return !background_.empty(); }
  operation_list take_background() noexcept { return background_.take(); }

  bool has_elsewhere() const noexcept { return !elsewhere_.empty(); }
  operation_list take_elsewhere() noexcept { return elsewhere_.take(); }

  /// The queue for threads that do not hold the progress lock. Any thread pushes.
  remote_completion_queue& remote() noexcept { return remote_; }

 private:
  void append_posted(operation_list& all) noexcept {
    if (!background_.empty()) [[unlikely]] {
      operation_list work = background_.take();
      all.append(work);
    }
    if (!remote_.empty()) [[unlikely]] {
      operation_list posted = remote_.take();
      all.append(posted);
    }
  }

  const executor* const background_executor_;
  operation_list home_;
  operation_list background_;
  operation_list elsewhere_;  // posted to their executors when the progress lock is released
  std::uint64_t pending_ = 0;
  std::uint64_t pending_elsewhere_ = 0;  // of these, those for other executors
  remote_completion_queue remote_;
};

}  // namespace weft::runtime
