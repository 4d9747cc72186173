// SPDX-License-Identifier: Apache-2.0
// pump: moves a context by calls, without coroutines, for loops that belong to somebody else. The C
// interface (weft.h) stands on it; MPI libraries and event loops can, too.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <weft/context.hpp>
#include <weft/detail/driver.hpp>
#include <weft/detail/message_ops.hpp>

namespace weft {

/// A context that is driven by calls. While a pump exists, nobody is inside `run` or `sync_wait` of
/// its context, and nothing is spawned there. It must not outlive the context; when it ends, no
/// thread may be inside one of its calls.
///
/// Operations are those that `co_await` makes of a request, kept where the caller likes and neither
/// copied nor moved while in flight:
///
///     detail::recv_operation op(peer.recv(buffer, tag{1}), &has_ended);
///     if (pump.start(op)) ...              // it has ended already: op.status, op.take()
///     { pump::holding hold(pump); hold.look(); }   // calls has_ended(op) when it has ended
///
/// `has_ended` is called with the context's baton held, so by one thread at a time, and only inside
/// look(): it notes the end somewhere that is touched under `holding` only, and calls nothing of
/// weft but `start_held` of another operation, as holding::start does. Leave `operation::on` null.
///
/// Every function may be called from any thread, unless it says otherwise. The *home* thread is the
/// fastest: it takes the baton with plain stores (docs/adr/0001); another one pays for locked
/// instructions, and some microseconds for the first of a series.
class pump {
 public:
  /// The calling thread becomes home.
  /// \throws weft::error (invalid_argument) when a thread is inside `run`, or there is a pump;
  ///         (system) when the kernel gives no descriptor
  explicit pump(context& of);
  pump(const pump&) = delete;
  pump& operator=(const pump&) = delete;
  ~pump();

  /// The calling thread becomes home. The one that was it must not be inside a call.
  void settle_here() noexcept { home_.store(detail::driver::seat(), std::memory_order_relaxed); }

  /// Held around whatever a thread does with the context.
  class call {
   public:
    explicit call(pump& p) noexcept
        : inside_(p.driver_, p.home_.load(std::memory_order_relaxed) == detail::driver::seat()) {}

   private:
    detail::driver::inside inside_;
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

  /// Holds the baton. Not twice by one thread, and not for long: nothing else moves meanwhile.
  class holding {
   public:
    explicit holding(pump& p) noexcept;
    holding(const holding&) = delete;
    holding& operator=(const holding&) = delete;
    ~holding();

    /// As pump::start, under the same holding as what is noted before and after: messages only.
    template <class Operation>
    bool start(Operation& op) noexcept {
      return op.start_held();
    }

    /// Sends a message without an operation, if it is so small and its way so free that it leaves
    /// in this call. The bytes are the caller's again.
    /// \param to of this pump's context
    /// \param immediate goes to the receiver beside the tag (received::immediate)
    /// \return false: nothing has happened; an operation finds out why
    bool send_now(const endpoint& to, const_buffer data, tag t,
                  std::uint64_t immediate = 0) noexcept;

    /// Moves messages and tells of the operations that have ended. Never blocks.
    /// \param passes how often it looks at most until something has ended, if operations are in
    ///   flight; a loop that does much between its looks finds messages earlier with a few. Where
    ///   more threads than cores take part the thread that made the pump looks once.
    /// \return how many have ended
    unsigned look(unsigned passes = 1) noexcept;

   private:
    pump& pump_;
    call call_;
  };

  /// After a look that brought nothing, not while holding: where processes are more than cores it
  /// lets others have this one now and then. Without it a loop that looks stands in their way.
  /// \param passes as they were given to look
  void looked_in_vain(unsigned passes = 1) noexcept;

  /// Waits until `over(argument)`, which is called while holding, is true. Polls for a while, then
  /// sleeps.
  /// \param until the steady clock's; time_point::max(): for ever
  /// \return false: it was too late
  bool wait(std::chrono::steady_clock::time_point until, bool (*over)(void*), void* argument);

  /// Readable while an armed context has something to look for. The same as long as the pump lives.
  int descriptor() const noexcept;

  /// Before the thread sleeps on the descriptor, in poll() or epoll: whatever comes from now on
  /// makes it readable. The next look() by this thread takes that back, so every sleep needs its
  /// own; it costs some 15 microseconds. One thread at a time.
  /// \return until when to sleep at most, whatever the descriptor says, and then to look; nothing:
  ///         something came meanwhile, or another thread is armed, so look now
  std::optional<std::chrono::steady_clock::time_point> arm() noexcept;

 private:
  struct patience;
  detail::core& core_;
  detail::driver& driver_;
  std::atomic<const void*> home_;
  const std::unique_ptr<patience> patience_;  // the home thread's
};

/// For a library on top of weft that is unloaded while contexts live whose owners are gone: their
/// threads stand still until a context is used again. exit does that by itself. Any thread.
void hold_threads() noexcept;

}  // namespace weft
