// SPDX-License-Identifier: Apache-2.0
// The completion queue that all transports of a context share.
#pragma once

#include <cstdint>

#include <weft/coro/operation.hpp>

#include "runtime/remote_completion_queue.hpp"

namespace weft::runtime {

/// Counts the operations that are pending, and keeps those that have ended until a thread completes
/// them: the thread inside run() for those whose `on` is null, other executors for the rest. Owned
/// by the engine. Progress lock held, except for remote().
class completion_queue {
 public:
  void add_pending(const operation& op) noexcept {
    if (op.on) [[unlikely]]
      ++pending_elsewhere_;
    ++pending_;
  }
  /// The same for an operation whose `on` is null.
  void add_pending_home() noexcept { ++pending_; }

  void remove_pending(const operation& op) noexcept {
    --pending_;
    if (op.on) [[unlikely]]
      --pending_elsewhere_;
  }

  /// Ends an operation that is not pending any more, or never was.
  void push(operation& op, errc status) noexcept {
    op.status = status;
    if (op.on) [[unlikely]]
      elsewhere_.push(op);
    else
      home_.push(op);
  }
  /// Ends a pending operation whose `on` is null, well.
  void end_pending_home(operation& op) noexcept {
    --pending_;
    op.status = errc::ok;
    home_.push(op);
  }

  std::uint64_t pending() const noexcept { return pending_; }
  /// Whether an operation of a coroutine that lives on another executor is pending.
  bool has_pending_elsewhere() const noexcept { return pending_elsewhere_ != 0; }

  /// Whether the holder of the progress lock has ended something for the thread inside run().
  bool has_home() const noexcept { return !home_.empty(); }
  /// Whether other threads have, too.
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

  /// The entrance for threads that do not hold the progress lock. Any thread pushes.
  remote_completion_queue& remote() noexcept { return remote_; }

 private:
  operation_list home_;
  operation_list elsewhere_;  // posted to their executors when the progress lock is released
  std::uint64_t pending_ = 0;
  std::uint64_t pending_elsewhere_ = 0;  // of these, for other executors
  remote_completion_queue remote_;
};

}  // namespace weft::runtime
