// SPDX-License-Identifier: Apache-2.0
// The completion queue that all transports of a context share.
#pragma once

#include <cstdint>

#include <weft/coro/operation.hpp>

#include "runtime/remote_completion_queue.hpp"

namespace weft::runtime {

/// Counts the pending operations, and keeps those that have ended until a thread completes them:
/// the thread inside run() those with a null `on`, other executors the rest. Owned by the engine.
/// Progress lock held, except for remote().
class completion_queue {
 public:
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
    if (op.on) [[unlikely]]
      elsewhere_.push(op);
    else
      home_.push(op);
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
  /// Whether the holder or other threads have.
  bool has_home_or_remote() const noexcept { return !home_.empty() || !remote_.empty(); }
  operation_list take_home() noexcept { return home_.take(); }
  operation_list take_home_and_remote() noexcept {
    operation_list all = home_.take();
    if (!remote_.empty()) [[unlikely]] {
      operation_list posted = remote_.take();
      all.append(posted);
    }
    return all;
  }

  bool has_elsewhere() const noexcept { return !elsewhere_.empty(); }
  operation_list take_elsewhere() noexcept { return elsewhere_.take(); }

  /// The queue for threads that do not hold the progress lock. Any thread pushes.
  remote_completion_queue& remote() noexcept { return remote_; }

 private:
  operation_list home_;
  operation_list elsewhere_;  // posted to their executors when the progress lock is released
  std::uint64_t pending_ = 0;
  std::uint64_t pending_elsewhere_ = 0;  // of these, those for other executors
  remote_completion_queue remote_;
};

}  // namespace weft::runtime
