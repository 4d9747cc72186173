// SPDX-License-Identifier: Apache-2.0
// run_loop: ends operations while a thread waits.
#pragma once

#include <atomic>

#include <weft/coro/executor.hpp>

namespace weft::detail {

/// A context's engine, for code that must wait without being a coroutine: `run`, and the destructor
/// of a scope after an exception.
class run_loop {
 public:
  virtual ~run_loop() = default;

  /// Makes progress and resumes coroutines until `done` is set, by one of these coroutines. Not
  /// from within a coroutine that other coroutines on this thread wait for, except as the last
  /// resort of a destructor.
  virtual void run_until_done(const std::atomic<bool>& done) noexcept = 0;

  /// The executor of the thread inside `run()`; null: there is none.
  virtual executor* home() noexcept { return nullptr; }

  /// The clock of chains that have no other clock. May be null.
  virtual timer_service* timers() noexcept { return nullptr; }

  /// The run loop whose completions the calling thread runs at this moment; null: none. Code on
  /// this thread needs no lock against those completions, since one thread at a time runs them.
  static run_loop* here() noexcept { return inside_of; }

  /// The thread token of the calling thread: unique among live threads.
  static const void* thread_token() noexcept { return &inside_of; }

  /// Held by the run loop around completions, on the thread that runs them. Nests: the inner one
  /// counts.
  /// \param here false: does nothing
  class inside {
   public:
    explicit inside(run_loop& d, bool here = true) noexcept : outer_(inside_of) {
      if (here) inside_of = &d;
    }
    inside(const inside&) = delete;
    inside& operator=(const inside&) = delete;
    ~inside() { inside_of = outer_; }

   private:
    run_loop* outer_;
  };

 private:
  // Read in every call. In a shared library the default TLS model would cost a function call.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local run_loop* inside_of =
      nullptr;
};

}  // namespace weft::detail
