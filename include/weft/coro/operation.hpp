// SPDX-License-Identifier: Apache-2.0
// operation: a piece of work in flight, an intrusive node that lives in its owner.
#pragma once

#include <weft/error.hpp>

namespace weft {

class executor;

/// A piece of work in flight. It lives in its owner (a coroutine frame, a scope's node, a C
/// caller's struct), is neither copied nor moved, and is linked into the queue that holds it, so it
/// needs no allocation. The code that ends it sets `status` and passes it to a completion queue,
/// once. After the call of `complete` only its owner may touch it.
class operation {
 public:
  /// Called exactly once, without the progress lock held, by the thread that drains the completion
  /// queue. May resume a coroutine that destroys the operation.
  using complete_fn = void (*)(operation&) noexcept;

  explicit operation(complete_fn f) noexcept : complete_(f) {}
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  void complete() noexcept { complete_(*this); }

  operation* next = nullptr;  ///< the next operation in the same queue
  errc status = errc::ok;     ///< set by the code that ends it, before it is queued

  /// The executor that calls `complete`; null: the thread inside `run()`. Set by the owner before
  /// the start.
  executor* on = nullptr;

 protected:
  ~operation() = default;

  /// Sets another complete function for the next time. Not while in flight.
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

  /// Moves all operations to the result; this list is empty afterwards.
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
