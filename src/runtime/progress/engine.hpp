// SPDX-License-Identifier: Apache-2.0
// The progress engine: one completion queue, and one progress lock whose holder makes progress.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include <weft/coro/detail/run_loop.hpp>
#include <weft/coro/detail/timer.hpp>
#include <weft/coro/executor.hpp>
#include <weft/detail/fd_wait.hpp>
#include <weft/poll_policy.hpp>
#include <weft/progress_mode.hpp>

#include "runtime/files/file_calls.hpp"
#include "runtime/lock/leadership.hpp"
#include "runtime/os/log.hpp"
#include "runtime/progress/caller_loop.hpp"
#include "runtime/progress/embedded_polling.hpp"
#include "runtime/progress/external_polling.hpp"
#include "runtime/progress/own_services.hpp"
#include "runtime/progress/progress_core.hpp"
#include "runtime/progress/progress_thread.hpp"
#include "runtime/progress/sleep_gate.hpp"
#include "runtime/sleep/one_shot_watches.hpp"

namespace weft::runtime {

/// Makes the progress of one context: the interface of the parts that it owns to transports,
/// protocols and bindings.
///
///   progress_core      lock, completion queue, pollables, timers, doorbell: what the loops share
///   caller_loop        the thread inside run(); leadership: which one, if there are several
///   external_polling   instead of it: the loop of another library, without coroutines
///   embedded_polling     instead of it: turns in the event loop of another library
///   progress_thread    while the caller computes (modes `dedicated` and `two_threads`)
///   completion_thread    in mode `two_threads`: reads a transport's second queue
///   sleep_gate         how each of these goes to sleep
///
/// docs/threading.md has the states. Models: tests/models/progress_lock.pml (one thread at a time
/// runs the engine), doorbell.pml (the caller does not sleep while a message waits), computing.pml
/// (nor does the progress thread while the caller computes) and followers.pml (several threads
/// inside run()).
class engine final : public own_services,
                     public detail::timer_service,
                     public detail::fd_wait_service,
                     public flag_wait_service,
                     public executor,
                     public detail::run_loop {
 public:
  /// \param virtual_time the timers' clock instead of the steady clock; outlives the engine
  /// \param reports null: lines on the standard error \param bells where those that peers ring have
  /// their names
  engine(progress_mode mode, wait_strategy::settings waiting, const std::string& wanted_wait_set,
         const clock* virtual_time = nullptr, log_ptr reports = nullptr, socket_folder bells = {})
      : core_(*this, mode, waiting, wanted_wait_set, virtual_time, std::move(bells)),
        files_(wanted_wait_set, *this, *this),
        log_(reports ? std::move(reports) : log_on_standard_error()) {}
  ~engine() override;  ///< stops the progress thread; all operations must have ended before

  /// Sets how passes poll. Before any pollable is added. \throws std::bad_alloc
  void poll_by(poll_policy policy) { core_.pollables.poll_by(policy); }
  /// Adds a pollable. Before start() or with the progress lock held; it must outlive the engine's
  /// use. \throws weft::error when its handle cannot be watched
  void add(pollable& s);
  void start() { progress_thread_.start(); }  ///< the progress thread, if the mode has one
  /// Ends the progress thread, which polls whenever a bell or a watch wakes it: call this before
  /// pollables are destroyed. Not with the progress lock held.
  void stop() noexcept;

  // --- the progress lock --------------------------------------------------------------------

  void enter() noexcept { core_.enter(); }
  /// Releases the progress lock. Wakes each thread that operations ended for: the caller if it
  /// slept, and other executors.
  void leave() noexcept { core_.leave(); }

  /// enter() for the shortest paths, without a function call: only for the leader, and only while
  /// its bias is not revoked. \return false: use enter and leave
  bool try_enter_leading() noexcept { return core_.leads_here() && core_.lock.try_lock_biased(); }
  /// After try_enter_leading. The leader is awake: there is no thread to wake.
  void leave_leading() noexcept { core_.lock.unlock_unrevoked(); }
  /// In place of leave_leading, when the first operation is pending that the thread inside run()
  /// does not poll for. \return false
  bool leave_computing() noexcept;

  /// enter() without a wait, for a thread that is not inside run(). \return false: another thread
  /// holds the progress lock
  bool try_enter() noexcept { return core_.lock.try_take(); }

  /// Whether this thread is the one inside run(), which takes the progress lock in its own way.
  bool leads_here() const noexcept { return core_.leads_here(); }

  /// Holds the progress lock for a scope.
  class holder {
   public:
    explicit holder(engine& e) noexcept : engine_(e) { engine_.enter(); }
    ~holder() { engine_.leave(); }
    holder(const holder&) = delete;
    holder& operator=(const holder&) = delete;

   private:
    engine& engine_;
  };

  /// Whether an operation that is being completed is completed with the progress lock held: an
  /// external loop does so if the operation names no executor.
  bool completes_held(const operation& op) const noexcept {
    return !op.on && core_.caller.by_calls;
  }

  /// Holds the progress lock for a scope of a complete function of weft's own, in which another
  /// holder would wait for this thread if completes_held(op).
  class completion_holder {
   public:
    completion_holder(engine& e, const operation& op) noexcept
        : engine_(e.completes_held(op) ? nullptr : &e) {
      if (engine_) engine_->enter();
    }
    ~completion_holder() {
      if (engine_) engine_->leave();
    }
    completion_holder(const completion_holder&) = delete;
    completion_holder& operator=(const completion_holder&) = delete;

   private:
    engine* const engine_;  // null: the lock was held before
  };

  // --- with the progress lock held ----------------------------------------------------------

  /// An operation stays in flight after its posting call. Every pending operation is ended once.
  void pending(const operation& op) noexcept {
    core_.completions.add_pending(op);
    if (!expects_pending(op)) [[unlikely]]
      core_.phase.begin();
  }
  /// Whether a thread is sure to poll while this operation is pending. Then `pending_at_home` is
  /// enough for an operation that the thread inside run() completes.
  bool expects_pending(const operation& op) const noexcept {
    return core_.caller.polls || (core_.bell.is_computing() && (!op.on || core_.phase.listens()));
  }
  void pending_at_home() noexcept { core_.completions.add_pending_home(); }
  bool expects_pending_at_home() const noexcept {
    return core_.caller.polls || core_.bell.is_computing();
  }

  /// Ends a pending operation: it is put into the completion queue.
  void end(operation& op, errc status = errc::ok) noexcept {
    withdraw(op);
    end_unposted(op, status);
  }
  /// The owner has taken a pending operation back: it does not end any more.
  void withdraw(const operation& op) noexcept { core_.completions.remove_pending(op); }
  /// Ends a pending operation with success; `op.on` is null: the thread inside run() completes it.
  void end_at_home(operation& op) noexcept { core_.completions.end_pending_home(op); }
  /// Ends an operation that never was pending.
  void end_unposted(operation& op, errc status) noexcept { core_.completions.push(op, status); }

  /// A frame that needs a reaction was sent from inside a pass. The thread that makes the pass
  /// rings for it unless it polls again at once.
  void defer_wakeup() noexcept { core_.wakeup_deferred = true; }
  /// A frame that needs a reaction was posted. \return whether its ring waits for the caller's
  /// first empty turn, because the caller probably polls at once; if not, the progress thread
  /// rings.
  bool rings_soon() noexcept {
    core_.rings_soon = core_.rings_soon || core_.phase.ends_soon();
    return core_.rings_soon;
  }
  /// Its ring did not wait, and its peer was rung.
  void rang_at_once() noexcept { core_.phase.rang_at_once(); }
  /// A frame that needs a reaction was posted, and its peer was rung if it slept or computed then.
  /// It may have gone to compute since: a thread of this side rings again while it waits.
  void await_reaction() noexcept { core_.await_reaction(); }
  /// Whether a frame outside of a pass waits for that, too.
  bool peers_find_out() const noexcept { return core_.peers_find_out(); }
  // own_services, also for protocols
  bool in_pass() const noexcept override { return core_.pollables.in_pass(); }
  bool passes_soon() const noexcept override {
    return in_pass() || core_.caller.polls || core_.leads_here();
  }
  /// An external loop need not poll again after a call that has posted.
  bool passes_anyway() const noexcept override {
    return !caller_sleeps_now() &&
           (in_pass() || core_.caller.polls || (core_.leads_here() && !core_.caller.by_calls));
  }
  void look_after() noexcept override {
    if (!in_pass() && !core_.caller.polls) core_.phase.wake_one_thread();
  }
  bool has_progress_thread() const noexcept override { return core_.has_progress_thread; }
  doorbell& own_doorbell() noexcept override { return core_.bell; }
  second_queue_reader* completion_thread() noexcept override;

  /// For a scope around a copy that may take microseconds. In a call of the application, peers
  /// would take the caller for one that computes, and ring for its progress thread: that thread
  /// would take a core, and then wait for the progress lock. A peer that has to be rung for rings
  /// once more when the scope has ended (docs/threading.md).
  class long_step {
   public:
    explicit long_step(engine& e) noexcept
        : bell_(!e.in_pass() && e.core_.bell.is_computing() ? &e.core_.bell : nullptr) {
      if (bell_) bell_->disarm_computing();
    }
    ~long_step() {
      if (bell_) bell_->arm_computing(false);
    }
    long_step(const long_step&) = delete;
    long_step& operator=(const long_step&) = delete;

   private:
    doorbell* const bell_;  // null: peers know already that the caller does not compute
  };

  /// Whether the thread inside run(), or that of an external loop, sleeps, or polls once more
  /// before it does.
  bool caller_sleeps_now() const noexcept { return core_.caller.is_asleep(); }

  std::uint64_t outstanding() const noexcept { return core_.completions.pending(); }
  /// The deadline of the first timer; time_point::max(): there is none.
  time_point next_deadline() const noexcept { return core_.timers.deadline(); }
  /// How many passes there were; it wraps.
  std::uint32_t passes() const noexcept { return core_.passes(); }
  std::uint64_t bells_rung() const noexcept { return core_.pollables.bells_rung(); }
  engine_counters& counters() noexcept { return core_.counters; }
  /// After the pollables were added, and before start(). \throws weft::error as call_tree
  void open_call_tree(const std::string& file, std::uint32_t rank, std::uint64_t messages) {
    core_.open_call_tree(file, rank, messages);
  }
  runtime::trace& trace() noexcept { return core_.trace; }
  /// Which thread makes progress at this moment.
  progress_state state() const noexcept { return core_.state(); }

  /// As `start`, for a caller that holds the progress lock.
  void start_held(detail::timer& t) noexcept;
  /// Ends every timer with errc::closed, present and later ones: the context ends.
  void close_timers() noexcept { core_.timers.close(); }
  /// Ends every wait for a descriptor with errc::closed, present and later ones. After stop(); not
  /// with the progress lock held.
  void close_waits() noexcept;
  /// The calls on files; made when they are first asked for. Any thread.
  lazy_file_calls& files() noexcept { return files_; }

  /// Whether the job has more processes here than there are cores.
  bool is_crowded() const noexcept override { return core_.waiting.crowded; }
  void report(log_level level, std::string_view line) noexcept override {
    log_->write(level, line);
  }
  /// Any thread, with or without the progress lock.
  const runtime::log& log() const noexcept { return *log_; }
  /// The same for what ends with the engine, as the trace does.
  const log_ptr& shared_log() const noexcept { return log_; }

  // --- from any thread ---------------------------------------------------------------------

  /// Calls `fire` once, without the progress lock, when the descriptor becomes readable: on the
  /// thread that polls or wakes next, the caller or the progress thread.
  /// \return a number for unwatch
  std::uint64_t watch_once(unique_fd fd, std::function<void()> fire);
  std::uint64_t watch_once(std::shared_ptr<const unique_fd> fd, std::function<void()> fire);
  /// Lets go of the descriptor soon; `fire` may be under way.
  void unwatch(std::uint64_t watch) noexcept;

  /// Whether this process is a child of the process that made the engine: it has a copy of the
  /// engine's memory, none of its threads (their locks may be held for ever), and shares
  /// descriptors and mapped memory with the parent and the parent's peers. A system call: too slow
  /// for the path of a message.
  bool is_inherited() const noexcept { return ::getpid() != process_; }
  /// Whether a thread is inside run(), or this thread is in a call or makes progress: the context
  /// cannot end then, unless the process does.
  bool is_in_use() noexcept;
  /// A thread uses the context, which may belong to an exiting process: threads that exit_gate has
  /// stopped go on.
  void go_on() noexcept {
    if (progress_thread_.stands_still()) [[unlikely]]
      exit_gate::open_all();
  }
  /// Where the progress thread may run; any thread, between start and stop.
  cpu_set progress_cpus() noexcept { return progress_thread_.cpus(); }
  /// \return 0, or the reason as errno has it
  int run_progress_on(const cpu_set& cpus) noexcept { return progress_thread_.run_on(cpus); }
  /// One line for people. Progress lock held.
  std::string describe() const;

  /// executor: the thread inside run() completes the work.
  void post(operation& work) noexcept override { core_.post_remote(work); }
  bool is_home() const noexcept override { return true; }

  /// Runs work on the threads that make progress: the thread inside run() while it waits, the
  /// progress thread while the application computes.
  executor& background() noexcept { return core_.background; }
  /// Where coroutines resume that name no executor. Null: on the thread inside run(). An external
  /// loop completes operations of such a thread with the progress lock held, and coroutines only
  /// where its progress guard ends: this executor is for them.
  executor* coroutine_home() noexcept { return core_.caller.by_calls ? this : nullptr; }

  // timer_service
  detail::time_point now() const noexcept override { return core_.now(); }
  void start(detail::timer& t) noexcept override;
  void cancel(detail::timer& t) noexcept override;

  // fd_wait_service. Without a progress thread, waits end while a thread polls or sleeps in run().
  errc start(detail::fd_wait& w) noexcept override;
  void cancel(detail::fd_wait& w) noexcept override;

  // flag_wait_service
  bool start(flag_operation& op) noexcept override;
  void cancel(flag_operation& op) noexcept override;
  /// Progress lock held.
  flag_waits& flags() noexcept { return core_.flags; }

  // --- the loops ---------------------------------------------------------------------------

  // run_loop
  executor* home() noexcept override { return this; }
  detail::timer_service* timers() noexcept override { return this; }
  /// Polls, resumes and sleeps until `done`. If another thread is inside already, waits for it to
  /// leave or for `done`, whichever is first: coroutines of a context never run in parallel.
  void run_until_done(const std::atomic<bool>& done) noexcept override;

  /// One pass and its completions, without waiting; for loops of other libraries.
  /// \return how many events were handled
  unsigned poll_once() noexcept;

  /// Progress by calls: weft/external_loop.hpp.
  external_polling& external() noexcept { return external_; }
  /// Turns in the event loop of another library: weft/embedded_loop.hpp.
  embedded_polling& embedded() noexcept { return embedded_; }

 private:
  progress_core core_;
  one_shot_watches watches_{*this};
  lazy_file_calls files_;
  sleep_gate sleep_gate_{core_};
  leadership leadership_{core_.lock};
  caller_loop caller_loop_{*this, core_, sleep_gate_, leadership_};
  external_polling external_{core_, sleep_gate_, leadership_};
  embedded_polling embedded_{core_, sleep_gate_, leadership_, caller_loop_};
  progress_thread progress_thread_{core_, sleep_gate_};
  const pid_t process_ = ::getpid();
  const log_ptr log_;
};

}  // namespace weft::runtime
