// SPDX-License-Identifier: Apache-2.0
// What can make operations end while this thread waits.
#pragma once

#include <atomic>

#include <weft/coro/executor.hpp>

namespace weft::detail {

/// A context's engine, for those that must wait without being a coroutine: `run`, and a scope that
/// is left by an exception.
class run_loop {
 public:
  virtual ~run_loop() = default;

  /// Moves messages and resumes coroutines until `done`, which one of them sets. Not from within a
  /// coroutine that others on this thread wait for, except as the last resort of a destructor.
  virtual void run_until_done(const std::atomic<bool>& done) noexcept = 0;

  /// The executor that stands for the thread inside `run()`; null: there is none.
  virtual executor* home() noexcept { return nullptr; }

  /// The clock of chains about which nothing else is known. May be null.
  virtual timer_service* timers() noexcept { return nullptr; }

  /// The driver whose completions the calling thread runs at this moment; null: none. What runs
  /// there needs no lock against those completions, since one thread at a time runs them.
  static run_loop* here() noexcept { return inside_of; }

  /// Names the calling thread among those that live.
  static const void* thread_token() noexcept { return &inside_of; }

  /// Held by the driver around completions, on the thread that runs them. Nests: the inner counts.
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
  // Read in every call, also in a shared library, where the usual way would be a call of its own.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local run_loop* inside_of =
      nullptr;
};

}  // namespace weft::detail
