// SPDX-License-Identifier: Apache-2.0
// The state that the loops of one engine share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <weft/coro/detail/run_loop.hpp>
#include <weft/progress_mode.hpp>

#include "runtime/completion/background_executor.hpp"
#include "runtime/completion/completion_queue.hpp"
#include "runtime/completion/timer_queue.hpp"
#include "runtime/flags/flag_waits.hpp"
#include "runtime/lock/progress_lock.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/polling/pass_step.hpp"
#include "runtime/polling/pollable_set.hpp"
#include "runtime/polling/reactor.hpp"
#include "runtime/progress/compute_phase.hpp"
#include "runtime/progress/engine_counters.hpp"
#include "runtime/sleep/doorbell.hpp"
#include "runtime/sleep/fd_waits.hpp"
#include "runtime/sleep/wait_strategy.hpp"
#include "runtime/trace/progress_state.hpp"
#include "runtime/trace/trace.hpp"

namespace weft::runtime {

class two_threads;

/// The parts of an engine, each with one job, and the few steps that need several of them: taking
/// and releasing the progress lock, one pass, waking. Owned by the engine; its loops (caller_loop,
/// external_polling, progress_thread) hold a reference. Progress lock held, unless a member says
/// otherwise.
class progress_core final {
 public:
  /// \param self the engine, as the thread inside run() names it
  /// \throws weft::error when the kernel refuses a descriptor or memory
  progress_core(const detail::run_loop& self, progress_mode mode, wait_strategy::settings waiting,
                const std::string& wanted_wait_set, const clock* virtual_time, socket_folder bells);
  ~progress_core();
  progress_core(const progress_core&) = delete;
  progress_core& operator=(const progress_core&) = delete;

  // --- the progress lock; any thread -------------------------------------------------------------

  /// Whether the calling thread leads: it is inside run(), and the progress lock is biased to it.
  bool leads_here() const noexcept { return detail::run_loop::here() == &self_; }

  void enter() noexcept {
    if (leads_here()) [[likely]]
      lock.lock_biased();
    else
      lock.take();
  }
  /// Releases the progress lock, then wakes the threads that operations ended for.
  void leave() noexcept {
    if (completions.has_home() || completions.has_elsewhere() || completions.has_background() ||
        on_release_ != 0) [[unlikely]]
      release_and_notify(completions.has_home() && caller.is_asleep());
    else
      release();
  }
  /// The same for the caller, which knows of the operations that ended for it.
  void leave_as_caller() noexcept {
    if (completions.has_elsewhere() || on_release_ != 0) [[unlikely]]
      release_and_notify(false);
    else
      release();
  }

  /// Holds the progress lock for a scope.
  class holder {
   public:
    explicit holder(progress_core& c) noexcept : core_(c) { core_.enter(); }
    ~holder() { core_.leave(); }
    holder(const holder&) = delete;
    holder& operator=(const holder&) = delete;

   private:
    progress_core& core_;
  };

  // --- a pass -----------------------------------------------------------------------------------

  /// Polls all pollables once. \return how many events were handled
  unsigned pass() noexcept {
    unsigned events = pollables.poll();
    if (flags.any()) events += flags.poll();
    if (++passes_ % passes_between_clocks == 0) [[unlikely]]
      end_due_timers();
    return events;
  }
  /// How many passes there were; it wraps.
  std::uint32_t passes() const noexcept { return passes_; }
  void end_due_timers() noexcept {
    if (!timers.empty()) timers.end_due(now());
  }
  /// Whether a thread has to make passes.
  bool needs_passes() const noexcept {
    return completions.pending() != 0 || pollables.any_busy() || completions.has_background();
  }

  /// Any thread.
  time_point now() const noexcept {
    return virtual_time ? virtual_time->now() : std::chrono::steady_clock::now();
  }

  // --- waking -----------------------------------------------------------------------------------

  /// Sets the threads of this process to wake when the progress lock is released. A thread that is
  /// woken earlier may displace the holder from its core, and then wait for the progress lock until
  /// its turn is over.
  void wake_progress_thread() noexcept { on_release_ |= wake_progress; }
  void wake_caller() noexcept { on_release_ |= wake_the_caller; }
  void wake_completion_thread() noexcept { on_release_ |= wake_completion; }
  /// Null in all modes but `two_threads`.
  two_threads* second_thread() const noexcept { return two_threads_.get(); }

  /// Rings the peers that have not read all that was sent to them.
  void wake_peers() noexcept {
    wakeup_deferred = rings_soon = false;
    pollables.wake_peers();
  }
  /// Sees to it that a thread rings again, soon, for a frame that was posted just now. The caller
  /// does when it waits; a thread that sleeps already does not know of the frame.
  void await_reaction() noexcept;
  /// The caller leaves the engine, perhaps for long. \param busy the progress thread is needed
  /// meanwhile
  void go_to_user_code(bool busy) noexcept {
    caller.polls = false;
    if (busy)
      phase.begin();
    else if (!timers.empty())
      phase.tell_of_timers();
    note_state();
    if ((wakeup_deferred && !peers_find_out()) || (rings_soon && !phase.ends_soon())) [[unlikely]]
      wake_peers();
  }
  /// Whether peers that compute are not rung at once. On a crowded host a peer is seldom computing
  /// and often between two calls, and its progress thread would take the core from it, or wait for
  /// its progress lock. This side rings when it has waited for a while, or when its own progress
  /// thread finds it computing; loops by calls look for themselves, too.
  bool peers_find_out() const noexcept { return waiting.crowded && caller.by_calls; }

  /// Called after a poll of a reactor, or a sleep in it: tells pollables of their readable handles,
  /// and ends the waits for descriptors that are ready, once the progress lock is released.
  void dispatch_ready(reactor& r) noexcept {
    r.dispatch_ready();
    if (waits.has_ended()) on_release_ |= end_fd_waits;
  }
  /// The caller polls its descriptors. With io_uring and no event this costs some loads.
  void poll_caller_handles() noexcept {
    if (caller_reactor->expects_handles() && caller_reactor->poll() != 0)
      dispatch_ready(*caller_reactor);
  }

  /// The same for the descriptors that are waited for, where no progress thread looks after them:
  /// at most once in 20 microseconds, or in a millisecond if only the deaths of peers are awaited.
  void poll_caller_waits() noexcept;

  /// The loop of another library watches the caller's wait set from now on. An io_uring set needs a
  /// thread that enters the kernel for that, so a new set is made. The calling thread leads.
  /// \throws weft::error when the kernel refuses
  void sleep_in_epoll();

  /// Completes an operation on the thread inside run(). Any thread, without the progress lock.
  void post_remote(operation& work) noexcept;
  /// Completes an operation on a thread that makes progress. Any thread, without the progress lock.
  void post_background(operation& work) noexcept;
  /// Makes the sleeping thread take up changes of `waits`. Any thread, without the lock.
  void ring_for_waits() noexcept;
  /// The set in which that thread sleeps.
  wait_set& set_of_waits() noexcept {
    return (has_progress_thread ? progress_reactor : caller_reactor)->set();
  }
  /// Writes a call tree. After the pollables were added. \throws weft::error as call_tree
  void open_call_tree(const std::string& file, std::uint32_t rank, std::uint64_t messages);

  /// Waits until no thread rings any more: before the bells are destroyed.
  void await_ringing() const noexcept;

  progress_state state() const noexcept;
  /// Records a possible change of the state in the trace.
  void note_state() noexcept {
    if (trace.on()) [[unlikely]]
      trace_state();
  }

  // --- the parts --------------------------------------------------------------------------------

  const progress_mode mode;
  const wait_strategy::settings waiting;
  const bool has_progress_thread;
  const clock* const virtual_time;  ///< null: the steady clock

  progress_lock lock;
  background_executor background{*this};
  completion_queue completions{&background};
  pollable_set pollables;
  flag_waits flags{completions};
  timer_queue timers{completions};
  caller_state caller;
  bool wakeup_deferred = false;  ///< a frame was sent inside a pass, and rang no bell
  /// A frame was posted that rings after the caller's first empty turn, or when the progress thread
  /// finds the caller computing. Set only while phase.ends_soon().
  bool rings_soon = false;
  doorbell bell;
  compute_phase phase{*this};
  engine_counters counters;  ///< any thread reads
  runtime::trace trace;      ///< written to its file when every thread that records has gone
  std::optional<pass_step> passes_in_tree;  ///< the steps of passes, if there is a call tree
  fd_waits waits;                           ///< any thread starts and cancels
  std::unique_ptr<reactor> caller_reactor;
  std::unique_ptr<reactor> progress_reactor;  ///< null: there is no progress thread
  std::string wait_set_reason;                ///< why io_uring is not used; empty: it is

 private:
  // Under steady traffic the clock is read once in this many passes.
  static constexpr std::uint32_t passes_between_clocks = 256;
  static constexpr std::uint8_t wake_progress = 1, wake_the_caller = 2, end_fd_waits = 4,
                                wake_completion = 8;

  void release() noexcept {
    if (leads_here()) [[likely]]
      lock.unlock_biased();
    else
      lock.give();
  }
  void release_and_notify(bool wake_caller) noexcept;
  void find_thread_for_background() noexcept;
  void trace_state() noexcept;

  const detail::run_loop& self_;
  std::uint8_t on_release_ = 0;  // actions for the thread that releases the progress lock
  std::uint32_t passes_ = 0;
  time_point next_poll_of_waits_{};
  progress_state traced_state_ = progress_state::idle;
  time_point traced_since_{};
  // Threads that may ring without the progress lock, and do not outlive the engine.
  std::atomic<std::uint32_t> ringing_{0};
  const std::unique_ptr<two_threads> two_threads_;
};

// In this header because every completion calls it.
inline void compute_phase::end() noexcept {
  core_.bell.disarm_computing();
  core_.flags.withdraw();
  stop_listening();
  if (predictor_.has_begun()) [[unlikely]]
    predicted_ends();
  core_.note_state();
}

}  // namespace weft::runtime
