// SPDX-License-Identifier: Apache-2.0
// external_loop: drives a context by calls, without coroutines, for loops of other libraries: MPI
// libraries, event loops. The C interface (weft.h) uses it.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <weft/context.hpp>
#include <weft/coro/detail/run_loop.hpp>
#include <weft/operations/messages.hpp>

namespace weft {

/// A context that the application drives by calls. While an external loop exists, no thread may be
/// inside `run` or `sync_wait` of its context, and nothing may be spawned there. Coroutines that
/// began inside `run`, as handlers of calls, must have ended. Must not outlive the context; during
/// its destructor no thread may be inside one of its calls.
///
/// An operation is the one that `co_await` makes of a request. Its memory is the caller's; it is
/// neither copied nor moved while in flight:
///
///     recv_operation op(peer.recv(buffer, tag{1}), &has_ended);
///     if (loop.start(op)) ...                       // it has ended already: op.status, op.take()
///     { external_loop::progress_guard hold(loop); hold.poll(); }   // may call has_ended(op)
///
/// progress_guard::poll calls `has_ended` with the context's progress lock held, so one thread at a
/// time does. `has_ended` may record the end in data that only the holder of a `progress_guard`
/// touches. Of weft, it may call only `start_held` of another operation, as progress_guard::start
/// does. Leave `operation::on` null.
///
/// Every function may be called from any thread, unless it says otherwise. The home thread is the
/// fastest: it takes the progress lock with plain stores (docs/adr/0001). Another thread pays for
/// locked instructions, and some microseconds for the first call of a series.
class external_loop {
 public:
  /// The calling thread becomes the home thread.
  /// \throws weft::error (invalid_argument) when a thread is inside `run`, or there is an external
  ///         loop; (system) when the kernel has no descriptor left
  explicit external_loop(context& of);
  external_loop(const external_loop&) = delete;
  external_loop& operator=(const external_loop&) = delete;
  ~external_loop();

  /// The calling thread becomes the home thread. The former home thread must not be inside a call.
  void bind_to_this_thread() noexcept {
    home_.store(detail::run_loop::thread_token(), std::memory_order_relaxed);
  }

  /// Held by a thread during each of its calls on the context.
  class call {
   public:
    explicit call(external_loop& p) noexcept
        : inside_(p.run_loop_,
                  p.home_.load(std::memory_order_relaxed) == detail::run_loop::thread_token()) {}

   private:
    detail::run_loop::inside inside_;
  };

  /// Starts an operation. Not while this thread holds a progress_guard.
  /// \return true: it has ended with `status`, and its complete function is not called
  template <class Operation>
  bool start(Operation& op) noexcept {
    const call here(*this);
    return op.start();
  }

  /// Asks an operation to end with errc::stopped. Its end comes in a later progress_guard::poll.
  /// Not while this thread holds a progress_guard.
  template <class Operation>
  void cancel(Operation& op) noexcept {
    const call here(*this);
    op.cancel();
  }

  /// Stops a receive or probe that no message has matched: it ends with errc::stopped, in a later
  /// progress_guard::poll. Unlike `cancel`, it never loses a message. Not while this thread holds a
  /// progress_guard.
  /// \return false: a message has matched it, or it has ended
  template <class Operation>
  bool withdraw(Operation& op) noexcept {
    const call here(*this);
    return op.withdraw();
  }

  /// Holds the progress lock. One thread must not hold two. Hold it briefly: no other thread makes
  /// progress meanwhile. Its destructor releases the lock, and then runs the coroutines that can go
  /// on: collectives, handlers of calls, and others on the background executor.
  class progress_guard {
   public:
    explicit progress_guard(external_loop& p) noexcept;
    progress_guard(const progress_guard&) = delete;
    progress_guard& operator=(const progress_guard&) = delete;
    ~progress_guard();

    /// As external_loop::start, without releasing the progress lock. For operations of messages
    /// only.
    template <class Operation>
    bool start(Operation& op) noexcept {
      return op.start_held();
    }

    /// Sends a small message without an operation, if it can leave within this call. Afterwards the
    /// bytes are the caller's again.
    /// \param to an endpoint of this external loop's context
    /// \param data the message
    /// \param t    its tag
    /// \param immediate travels to the receiver beside the tag (received::immediate)
    /// \return false: nothing was sent; a send operation tells the reason
    bool try_send(const endpoint& to, const_buffer data, tag t,
                  std::uint64_t immediate = 0) noexcept;

    /// Makes progress, and calls the complete functions of the operations that have ended. Never
    /// blocks.
    /// \param passes the most passes until an operation has ended, if operations are in flight; a
    ///        loop that does much between its polls finds messages earlier with a few passes. On a
    ///        crowded host the thread that made the external loop makes one pass.
    /// \return how many have ended
    unsigned poll(unsigned passes = 1) noexcept;

   private:
    external_loop& external_loop_;
    call call_;
  };

  /// Call after an empty poll, not while holding a progress_guard: lets threads that wait for each
  /// other have the core now and then, by a yield. Where a yield has cost a time slice it spins; in
  /// a job with more processes than cores it sleeps, for 200 us at most, until a message comes.
  /// Does nothing in other threads than the one that made the external loop.
  /// \param passes the argument of the poll
  void back_off(unsigned passes = 1) noexcept;

  /// Whether the calling thread is the one that made this object. Any thread.
  bool is_owner_thread() const noexcept;

  /// Waits until `over(argument)` returns true; calls it with the progress lock held. Polls for a
  /// while, then sleeps.
  /// \param until a time of the steady clock; time_point::max(): no limit
  /// \param over     must not block; is not called again after it returned true, so it may take its
  ///                 event
  /// \param argument what `over` is called with
  /// \return false: `until` has passed
  bool wait(std::chrono::steady_clock::time_point until, bool (*over)(void*), void* argument);

  /// A descriptor that is readable while the context is armed and has work for a poll. It does not
  /// change while the external loop lives.
  int descriptor() const noexcept;

  /// Arms the descriptor before the thread sleeps on it, in poll() or epoll: from now on every
  /// event for this context makes it readable. The next progress_guard::poll by this thread disarms
  /// it, so arm before every sleep; this costs some 15 microseconds. One thread at a time.
  /// \return the time at which to poll at the latest, even if the descriptor is not readable;
  ///        nothing: there is work already, or another thread is armed, so poll now
  std::optional<std::chrono::steady_clock::time_point> arm() noexcept;

 private:
  struct wait_strategy;
  detail::core& core_;
  detail::run_loop& run_loop_;
  std::atomic<const void*> home_;
  const std::unique_ptr<wait_strategy> wait_strategy_;  // the home thread's
};

/// For a library on top of weft that is unloaded while contexts still live: stops weft's threads at
/// their exit gates until a context is used again. exit() does that by itself. Any thread.
void park_threads() noexcept;

}  // namespace weft
