// SPDX-License-Identifier: Apache-2.0
// Protocols as coroutines: straight-line code that runs on the engine.
#pragma once

#include <coroutine>
#include <exception>

namespace weft::proto {

/// A detached coroutine. It runs with the progress lock held, on the thread that holds it, from its
/// call to its first suspension and whenever the awaited event has come. It ends the operation that
/// it serves and frees itself. No exception may leave it.
///
/// Do not write `while (a && co_await b)`: g++ 12 awaits b also when a is false.
struct protocol_coroutine {
  bool started = true;  ///< false: there was no memory for it

  struct promise_type {
    protocol_coroutine get_return_object() const noexcept { return {}; }
    static protocol_coroutine get_return_object_on_allocation_failure() noexcept { return {false}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

/// A protocol that waits in a queue. Lives in its coroutine frame.
struct waiter {
  std::coroutine_handle<> self;
  waiter* next = nullptr;
  bool granted = false;  ///< false when it resumes: the awaited event will never come

  bool await_ready() const noexcept { return false; }
  bool await_resume() const noexcept { return granted; }
};

/// Protocols that wait for the same event, in the order of arrival.
class waiters {
 public:
  bool empty() const noexcept { return first_ == nullptr; }

  void add(waiter& w) noexcept {
    w.next = nullptr;
    (first_ ? last_->next : first_) = &w;
    last_ = &w;
  }

  void add_first(waiter& w) noexcept {
    w.next = first_;
    if (!first_) last_ = &w;
    first_ = &w;
  }

  /// Takes the first one out, to be resumed with what it awaited. There is one.
  waiter& take_first() noexcept {
    waiter& w = *first_;
    first_ = w.next;
    w.granted = true;
    return w;
  }

  /// The first one for which `chosen` holds; null: none.
  template <class Predicate>
  waiter* find(Predicate chosen) const noexcept {
    waiter* w = first_;
    while (w && !chosen(*w)) w = w->next;
    return w;
  }

  void remove(waiter& w) noexcept {
    waiter* before = nullptr;
    for (waiter* i = first_; i; before = i, i = i->next) {
      if (i != &w) continue;
      (before ? before->next : first_) = w.next;
      if (last_ == &w) last_ = before;
      return;
    }
  }

  template <class Action>
  void for_each(Action act) const {
    for (const waiter* w = first_; w; w = w->next) act(*w);
  }

  const waiter* first() const noexcept { return first_; }
  const waiter* last() const noexcept { return first_ ? last_ : nullptr; }

  /// Resumes the first one. It may wait again at once.
  void resume_first(bool granted) noexcept {
    waiter* w = first_;
    first_ = w->next;
    w->granted = granted;
    w->self.resume();
  }

  /// Resumes all that wait now, once each, also if they wait again.
  void resume_all(bool granted) noexcept {
    waiters now = *this;
    first_ = nullptr;
    while (!now.empty()) now.resume_first(granted);
  }

 private:
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

/// Waits in such a queue.
struct queue_waiter : waiter {
  waiters& queue;
  explicit queue_waiter(waiters& q) noexcept : queue(q) {}
  void await_suspend(std::coroutine_handle<> h) noexcept {
    self = h;
    queue.add(*this);
  }
};

}  // namespace weft::proto
