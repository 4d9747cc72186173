// SPDX-License-Identifier: Apache-2.0
// external loop: moves a context by calls, without coroutines, for loops of other
// libraries. The C interface (weft.h) stands on it; MPI libraries and event loops can, too.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <weft/context.hpp>
#include <weft/coro/detail/run_loop.hpp>
#include <weft/detail/message_ops.hpp>

namespace weft {

/// A context that is driven by calls. While an external loop exists, no thread is inside `run` or
/// `sync_wait` of its context, and nothing is spawned there. It must not outlive the context; when
/// it ends, no thread may be inside one of its calls.
///
/// Operations are those that `co_await` makes of a request, kept where the caller likes and neither
/// copied nor moved while in flight:
///
///     detail::recv_operation op(peer.recv(buffer, tag{1}), &has_ended);
///     if (external loop.start(op)) ...              // it has ended already: op.status, op.take()
///     { external_loop::progress_guard hold(external loop); hold.look(); }   // calls has_ended(op)
///     when it has ended
///
/// `has_ended` is called with the context's progress lock held, so by one thread at a time, and
/// only inside look(): it notes the end somewhere that is touched under `progress_guard` only, and
/// calls nothing of weft but `start_held` of another operation, as progress_guard::start does.
/// Leave `operation::on` null.
///
/// Every function may be called from any thread, unless it says otherwise. The *home* thread is the
/// fastest: it takes the progress lock with plain stores (docs/adr/0001); another one pays for
/// locked instructions, and some microseconds for the first of a series.
class external_loop {
 public:
  /// The calling thread becomes home.
  /// \throws weft::error (invalid_argument) when a thread is inside `run`, or there is an external
  /// loop;
  ///         (system) when the kernel gives no descriptor
  explicit external_loop(context& of);
  external_loop(const external_loop&) = delete;
  external_loop& operator=(const external_loop&) = delete;
  ~external_loop();

  /// The calling thread becomes home. The one that was it must not be inside a call.
  void bind_to_this_thread() noexcept {
    home_.store(detail::run_loop::thread_token(), std::memory_order_relaxed);
  }

  /// Held around whatever a thread does with the context.
  class call {
   public:
    explicit call(external_loop& p) noexcept
        : inside_(p.run_loop_,
                  p.home_.load(std::memory_order_relaxed) == detail::run_loop::thread_token()) {}

   private:
    detail::run_loop::inside inside_;
  };

  /// Starts an operation. Not while holding.
  /// \return true: it has ended, `status` tells how, and nothing is called for it
  template <class Operation>
  bool start(Operation& op) noexcept {
    const call here(*this);
    return op.start();
  }

  /// Asks an operation to end with errc::stopped. It ends by itself, in some look(). Not while
  /// holding.
  template <class Operation>
  void cancel(Operation& op) noexcept {
    const call here(*this);
    op.cancel();
  }

  /// Takes a receive or probe back that no message has met: it ends with errc::stopped, in some
  /// look(). Unlike `cancel`, it never costs a message. Not while holding.
  /// \return false: a message has met it, or it has ended
  template <class Operation>
  bool withdraw(Operation& op) noexcept {
    const call here(*this);
    return op.withdraw();
  }

  /// Holds the progress lock. Not twice by one thread, and not for long: nothing else moves
  /// meanwhile.
  class progress_guard {
   public:
    explicit progress_guard(external_loop& p) noexcept;
    progress_guard(const progress_guard&) = delete;
    progress_guard& operator=(const progress_guard&) = delete;
    ~progress_guard();

    /// As external_loop::start, under the same holding as what is noted before and after: messages
    /// only.
    template <class Operation>
    bool start(Operation& op) noexcept {
      return op.start_held();
    }

    /// Sends a message without an operation, if it is so small and its way so free that it leaves
    /// in this call. The bytes are the caller's again.
    /// \param to of this external loop's context
    /// \param immediate goes to the receiver beside the tag (received::immediate)
    /// \return false: nothing has happened; an operation finds out why
    bool try_send(const endpoint& to, const_buffer data, tag t,
                  std::uint64_t immediate = 0) noexcept;

    /// Moves messages and tells of the operations that have ended. Never blocks.
    /// \param passes how often it looks at most until something has ended, if operations are in
    ///   flight; a loop that does much between its looks finds messages earlier with a few. Where
    ///   more threads than cores take part the thread that made the external loop looks once.
    /// \return how many have ended
    unsigned poll(unsigned passes = 1) noexcept;

   private:
    external_loop& external_loop_;
    call call_;
  };

  /// After a look that brought nothing, not while holding: where processes are more than cores it
  /// lets others have this one now and then. Without it a loop that looks stands in their way.
  /// \param passes as they were given to look
  void back_off(unsigned passes = 1) noexcept;

  /// Whether the calling thread is the one that made this object. Any thread.
  bool is_owner_thread() const noexcept;

  /// Waits until `over(argument)`, which is called while holding, is true. Polls for a while, then
  /// sleeps.
  /// \param until the steady clock's; time_point::max(): for ever
  /// \return false: it was too late
  bool wait(std::chrono::steady_clock::time_point until, bool (*over)(void*), void* argument);

  /// Readable while an armed context has something to look for. The same as long as the external
  /// loop lives.
  int descriptor() const noexcept;

  /// Before the thread sleeps on the descriptor, in poll() or epoll: whatever comes from now on
  /// makes it readable. The next look() by this thread takes that back, so every sleep needs its
  /// own; it costs some 15 microseconds. One thread at a time.
  /// \return until when to sleep at most, whatever the descriptor says, and then to look; nothing:
  ///         something came meanwhile, or another thread is armed, so look now
  std::optional<std::chrono::steady_clock::time_point> arm() noexcept;

 private:
  struct wait_strategy;
  detail::core& core_;
  detail::run_loop& run_loop_;
  std::atomic<const void*> home_;
  const std::unique_ptr<wait_strategy> wait_strategy_;  // the home thread's
};

/// For a library on top of weft that is unloaded while contexts live whose owners are gone: their
/// threads stand still until a context is used again. exit does that by itself. Any thread.
void park_threads() noexcept;

}  // namespace weft
