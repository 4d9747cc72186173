// SPDX-License-Identifier: Apache-2.0
// The one thing that is ever in flight: an intrusive node that lives in its owner.
#pragma once

#include <weft/error.hpp>

namespace weft {

class executor;

/// Something in flight. It lives in its owner (a coroutine frame, a scope's node, a C caller's
/// struct), is neither copied nor moved, and is linked into whichever queue holds it, so nothing
/// is allocated for it. The code that ends it sets `status` and hands it to a completion queue,
/// once; after `complete` has been called only its owner may touch it.
class operation {
 public:
  /// Called exactly once, without the progress lock held, by the thread that drains the completion
  /// queue. May resume a coroutine that destroys the operation.
  using complete_fn = void (*)(operation&) noexcept;

  explicit operation(complete_fn f) noexcept : complete_(f) {}
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  void complete() noexcept { complete_(*this); }

  operation* next = nullptr;  ///< the next one in the queue that holds it now
  errc status = errc::ok;     ///< written by the code that ends it, before it is queued

  /// Who calls `complete`; null: the thread inside `run()`. Set by the owner before it starts.
  executor* on = nullptr;

 protected:
  ~operation() = default;

  /// For an owner that wants `complete` to do something else the next time. Not while in flight.
  void set_complete(complete_fn f) noexcept { complete_ = f; }

 private:
  complete_fn complete_;
};

/// First-in first-out list of operations. Owned and used by one thread (or one progress lock) at a
/// time.
class operation_list {
 public:
  bool empty() const noexcept { return head_ == nullptr; }

  void push(operation& op) noexcept {
    op.next = nullptr;
    (head_ ? tail_->next : head_) = &op;
    tail_ = &op;
  }

  operation* pop() noexcept {
    operation* op = head_;
    if (op) head_ = op->next;
    return op;
  }

  void append(operation_list& other) noexcept {
    if (other.empty()) return;
    (head_ ? tail_->next : head_) = other.head_;
    tail_ = other.tail_;
    other.head_ = nullptr;
  }

  /// Takes everything, leaving this list empty.
  operation_list take() noexcept {
    operation_list all = *this;
    head_ = nullptr;
    return all;
  }

 private:
  operation* head_ = nullptr;
  operation* tail_ = nullptr;
};

}  // namespace weft
