// SPDX-License-Identifier: Apache-2.0
// The progress engine: one completion queue, one progress lock, whose holder moves everything.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <weft/context.hpp>
#include <weft/detail/run_loop.hpp>
#include <weft/detail/timer.hpp>
#include <weft/executor.hpp>

#include "runtime/bell_watcher.hpp"
#include "runtime/clock.hpp"
#include "runtime/completion_thread.hpp"
#include "runtime/doorbell.hpp"
#include "runtime/exit_gate.hpp"
#include "runtime/handle_watcher.hpp"
#include "runtime/idle_predictor.hpp"
#include "runtime/one_shot_watches.hpp"
#include "runtime/poll_order.hpp"
#include "runtime/pollable.hpp"
#include "runtime/progress_lock.hpp"
#include "runtime/remote_completion_queue.hpp"
#include "runtime/timers.hpp"
#include "runtime/trace.hpp"
#include "runtime/wait_set.hpp"
#include "runtime/wait_strategy.hpp"

namespace weft::runtime {

/// Counters that the engine keeps. Written with the progress lock held or by the sleeping thread
/// alone.
struct engine_counters {
  std::atomic<std::uint64_t> sleeps{0};
  std::atomic<std::uint64_t> nanoseconds_asleep{0};
  std::atomic<std::uint64_t> wake_ups{0};
  std::atomic<std::uint64_t> empty_wake_ups{0};
  std::atomic<std::uint64_t> progress_iterations{0};
};

/// Moves everything of one context. Threads that meet here:
///
///  * the *caller*: the thread inside run(). It polls, and resumes coroutines between polls with
///    the progress lock released. When it has nothing to do it sleeps in its own wait set.
///  * the *progress thread* (modes `dedicated` and `two_threads`): asleep on its doorbell, and
///    touching nothing, while the caller polls or sleeps; active while the caller computes in
///    user code.
///  * any other thread: takes the progress lock for one posting call.
///
/// docs/threading.md has the states. Models: tests/models/progress_lock.pml (one thread at a time
/// runs this), tests/models/doorbell.pml (the caller does not sleep through what came for it),
/// tests/models/computing.pml (nor does the progress thread while the caller computes) and
/// tests/models/followers.pml (several threads inside run()).
class engine final : public detail::timer_service, public executor, public detail::run_loop {
 public:
  /// \param virtual_time what timers go by instead of the steady clock; outlives the engine
  engine(progress_mode mode, wait_strategy::settings waiting, const std::string& wanted_wait_set,
         const clock* virtual_time = nullptr);
  ~engine() override;  ///< stops the progress thread; what is still in flight was ended before

  /// How passes look at sources; before any is added. \throws std::bad_alloc
  void poll_by(poll_policy policy) {
    if (policy == poll_policy::in_order) return;
    order_ = std::make_unique<poll_order>(policy);
    polled_.push_back(order_.get());
  }

  /// Adds something to poll. Before start() or with the progress lock held; must outlive the
  /// engine's use. \throws weft::error when its handle cannot be watched
  void add(pollable& s);
  void start();  ///< starts the progress thread, if the mode has one

  /// Ends the progress thread, which polls sources whenever a bell or a watch wakes it: before they
  /// are destroyed. Not with the progress lock held.
  void stop() noexcept;

  // --- the progress lock
  // ---------------------------------------------------------------------------

  void enter() noexcept {
    if (leads_here()) [[likely]]
      progress_lock_.lock_biased();
    else
      progress_lock_.take();
  }

  /// Releases the progress lock. Each thread for which something ended learns of it: the caller if
  /// it slept, and other executors.
  void leave() noexcept {
    if (!ended_.empty() || !elsewhere_.empty() || wake_progress_ || wake_caller_) [[unlikely]]
      release_and_notify(!ended_.empty() && caller_asleep_.load(std::memory_order_relaxed));
    else
      give();
  }

  /// The same for the shortest paths, which call nothing: only for the thread that leads, and only
  /// while its bias is not revoked. \return false: use enter and leave
  bool try_enter_leading() noexcept { return leads_here() && progress_lock_.try_lock_biased(); }

  /// After try_enter_leading. The leading thread is awake: there is no thread to wake.
  void leave_leading() noexcept { progress_lock_.unlock_unrevoked(); }

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

  // --- with the progress lock held
  // -----------------------------------------------------------------

  /// An operation stays in flight after its posting call. Every pending operation is ended once.
  void pending(const operation& op) noexcept {
    if (op.on) [[unlikely]]
      ++outstanding_elsewhere_;
    ++outstanding_;
    if (!expects_pending(op)) [[unlikely]]
      enter_computing();
  }

  /// Whether a thread is sure to poll while this operation is pending. For one that is completed by
  /// the thread inside run(), `pending_expected` does then.
  bool expects_pending(const operation& op) const noexcept {
    return caller_polls_ || (doorbell_.is_computing() && (!op.on || listens_));
  }
  void pending_expected() noexcept { ++outstanding_; }

  /// Ends a pending operation: the completion queue has it from now on.
  void end(operation& op, errc status = errc::ok) noexcept {
    withdraw(op);
    end_unposted(op, status);
  }

  /// A pending operation does not end any more: its owner has taken it back.
  void withdraw(const operation& op) noexcept {
    --outstanding_;
    if (op.on) [[unlikely]]
      --outstanding_elsewhere_;
  }

  /// The same, well, for one that is completed by the thread inside run(): `op.on` is null.
  void end_at_home(operation& op) noexcept {
    --outstanding_;
    op.status = errc::ok;
    ended_.push(op);
  }

  /// Ends one that never was pending.
  void end_unposted(operation& op, errc status) noexcept {
    op.status = status;
    if (op.on) [[unlikely]]
      elsewhere_.push(op);
    else
      ended_.push(op);
  }

  /// Ends every timer with errc::closed, those that wait and those that come: the context ends.
  void close_timers() noexcept;

  /// A frame that needs a reaction was sent from inside a pass. The thread that makes the pass
  /// rings for it unless it looks again at once.
  void defer_wakeup() noexcept { wakeup_deferred_ = true; }

  /// Whether a pass is under way: its thread polls again soon, and rings then if need be.
  bool in_pass() const noexcept { return in_pass_; }

  /// Whether the thread that runs this polls again soon: a frame may wait until then for others to
  /// leave with. Else it would not be sent.
  bool passes_soon() const noexcept { return in_pass_ || caller_polls_ || leads_here(); }

  /// Whether the thread inside run(), or by calls, sleeps, or looks once more before it does.
  bool caller_sleeps_now() const noexcept { return caller_asleep_.load(std::memory_order_relaxed); }

  /// A source has something to poll for that it did not have before: a thread that sleeps looks at
  /// it.
  void look_after() noexcept {
    if (!in_pass_ && !caller_polls_) wake_one_thread();
  }

  /// Whether this process is a child of the one that made the engine: it has a copy of its memory
  /// and none of its threads, whose locks may be held for ever, and shares descriptors and mapped
  /// memory with it and its peers. A system call: not for a message's way.
  bool is_inherited() const noexcept { return ::getpid() != process_; }

  /// Whether a thread is inside run(), or this one is in a call or moves messages: the context
  /// cannot end, unless the process does.
  bool is_in_use() noexcept;

  /// A thread uses the context that may be on its way out of the process: threads that stand still
  /// for that (exit_gate) go on.
  void go_on() noexcept {
    if (gate_.is_closed()) [[unlikely]]
      exit_gate::open_all();
  }

  /// Whether a thread makes passes while the application computes.
  bool has_progress_thread() const noexcept { return has_progress_thread_; }

  std::uint64_t outstanding() const noexcept { return outstanding_; }

  /// When the first timer is due; time_point::max(): there is none.
  time_point next_deadline() const noexcept {
    return timers_.earliest().value_or(time_point::max());
  }
  doorbell& own_doorbell() noexcept { return doorbell_; }
  engine_counters& counters() noexcept { return counters_; }
  std::uint64_t bells_rung() const noexcept {
    std::uint64_t all = 0;
    for (const pollable* s : pollables_) all += s->bells_rung();
    return all;
  }
  runtime::trace& trace() noexcept { return trace_; }

  // --- from any thread ---------------------------------------------------------------------

  /// Calls `fire` once, without the progress lock, when the descriptor becomes readable. \return
  /// for unwatch
  std::uint64_t watch_once(unique_fd fd, std::function<void()> fire);
  /// Closes the descriptor soon; `fire` may be under way.
  void unwatch(std::uint64_t watch) noexcept;

  /// executor: the work is completed by the thread inside run().
  void post(operation& work) noexcept override;
  bool is_home() const noexcept override { return true; }

  // driver
  executor* home() noexcept override { return this; }
  detail::timer_service* timers() noexcept override { return this; }

  // timer_service
  detail::time_point now() const noexcept override {
    return virtual_time_ ? virtual_time_->now() : std::chrono::steady_clock::now();
  }
  void start(detail::timer& t) noexcept override;
  void cancel(detail::timer& t) noexcept override;

  /// Polls, resumes and sleeps until `done`. When another thread is inside already, waits for it to
  /// leave or for `done`, whichever is first: coroutines of a context never run in parallel.
  void run_until_done(const std::atomic<bool>& done) noexcept override;

  /// One pass and its completions, without waiting; for loops of other libraries.
  /// \return how many events were handled
  unsigned poll_once() noexcept;

  std::string describe() const;

  // --- by calls: weft/external_loop.hpp (engine_calls.cpp)
  // -------------------------------------------- Nobody is inside run(). A loop that belongs to
  // somebody else looks, and what it posts and how often it looks tell whether it is there or away.

  /// From now on until end_calls(). \throws weft::error when a thread is inside run()
  void begin_calls();
  void end_calls() noexcept;

  /// One pass, or up to `passes` until something has ended while operations are pending; then
  /// `complete` is called on whatever has, with the progress lock held. Progress lock held.
  /// \return how many operations have ended
  unsigned poll(unsigned passes = 1) noexcept;
  /// Whether the last look moved something, which need not have ended anything. Progress lock held.
  bool moved() const noexcept { return moved_; }

  /// How long one thread has made empty polls.
  struct idle_backoff {
    explicit idle_backoff(const engine& e) noexcept : waits(e.waiting_) {}
    void reset() noexcept {
      waits.reset();
      count = 0;
    }
    /// Before a look: finds out whether the thread gives the core away between polls. To yield
    /// here, too, would cost a turn of everybody else.
    void look_again() noexcept;
    wait_strategy waits;
    unsigned count = 0;
    time_point left{};        // when the last empty poll was over; in a crowd only
    bool others_run = false;  // as was found out last
  };

  /// After a look that brought nothing, without the progress lock: now and then lets others have
  /// the core, and does what is too dear for every look. \return what to do next
  wait_strategy::advice back_off(idle_backoff& so_far, unsigned passes = 1) noexcept;

  /// Announces that this thread is about to sleep until descriptor() is readable, and looks once
  /// more. Its next look() takes that back.
  /// \param over what is waited for, if not just any end: asked with the progress lock held; null:
  ///   the caller asks by itself, afterwards
  /// \return until when it may sleep at most; nothing: not at all, look again
  std::optional<time_point> arm(bool (*over)(void*) = nullptr, void* argument = nullptr) noexcept;
  int descriptor() const noexcept { return caller_wait_->descriptor(); }

  /// Arms and sleeps, at most until then. One thread at a time sleeps so; another one only naps.
  void sleep_until(time_point when, bool (*over)(void*), void* argument) noexcept;

 private:
  /// This thread leads: it is inside run() of this context, and biased by the progress lock.
  bool leads_here() const noexcept { return run_loop::here() == this; }
  void give() noexcept {
    if (leads_here()) [[likely]]
      progress_lock_.unlock_biased();
    else
      progress_lock_.give();
  }
  void release_and_notify(bool wake_caller) noexcept;
  void release_or_notify() noexcept {
    if (!elsewhere_.empty() || wake_progress_ || wake_caller_) [[unlikely]]
      release_and_notify(false);
    else
      give();
  }
  unsigned pass() noexcept;
  void complete_all(operation_list batch) noexcept;
  bool try_to_lead() noexcept;
  void stop_leading() noexcept;
  void lead_until(const std::atomic<bool>& done) noexcept;
  void enter_computing() noexcept;
  void wake_one_thread() noexcept;
  void tell_of_timers() noexcept;
  void go_to_user_code(bool to_do) noexcept;
  void wake_peers() noexcept;
  void caller_looks_around() noexcept;
  void caller_sleeps() noexcept;
  void progress_loop() noexcept;
  unsigned progress_sleeps(time_point deadline) noexcept;
  unsigned progress_waits(time_point deadline) noexcept;
  bool tick_finds_computing() noexcept;
  void ring_for_watches() noexcept;
  bool tick_finds_no_looks() noexcept;
  bool has_looked_lately() noexcept;
  void end_look(unsigned ended) noexcept;
  void look_around(bool others_had_a_turn) noexcept;
  void look_at_watches() noexcept;
  void wake_up() noexcept;
  void listen() noexcept;
  void watch_handles() noexcept;
  unsigned progress_active() noexcept;
  void caller_looks_at_handles() noexcept;
  bool descriptors_in_use() const noexcept;
  bool needed_while_computing() const noexcept;
  void stop_listening() noexcept {
    if (!listens_) [[likely]]
      return;
    listens_ = false;
    doorbell_.disarm_asleep();
  }
  bool pollables_are_busy() const noexcept;
  bool something_to_do() const noexcept;
  static void tell(std::deque<handle_watcher>& handles) noexcept {
    for (handle_watcher& h : handles) h.tell();
  }
  void flush_pollables() noexcept {
    for (pollable* s : pollables_)
      if (s->busy) s->flush();
  }
  void arm_pollables() noexcept {
    for (pollable* s : pollables_) s->arm();
  }
  void end_due_timers() noexcept;
  bool pollables_have_work() noexcept;
  /// Until when to sleep: the next timer, or earlier while a peer has yet to see what it was sent.
  time_point wake_peers_and_deadline() noexcept;

  // How often the caller looks before it considers whether to go on looking.
  static constexpr unsigned empty_turns_until_wake = 4;
  static constexpr std::chrono::milliseconds shortest_until_wake{1};

  const progress_mode mode_;
  const wait_strategy::settings waiting_;
  const bool has_progress_thread_;
  const clock* const virtual_time_;
  std::vector<pollable*> pollables_;
  std::vector<pollable*> polled_;      // by a pass: all of them, or order_ in their place
  std::unique_ptr<poll_order> order_;  // null: in the order of adding

  progress_lock progress_lock_;
  // Progress lock held only:
  operation_list ended_;  // the completion queue's plain list
  operation_list
      elsewhere_;  // the same for other executors; posted when the progress lock is released
  std::uint64_t outstanding_ = 0;            // operations pending
  std::uint64_t outstanding_elsewhere_ = 0;  // of these, for other executors
  bool listens_ = false;  // the progress thread sleeps, and every message rings for it
  timer_heap timers_;
  bool timers_closed_ = false;
  std::uint32_t passes_ = 0;
  bool in_pass_ = false;
  bool wakeup_deferred_ = false;  // defer_wakeup() was called, and no ring has followed
  // The thread that releases the progress lock rings then. A thread that is woken before may
  // displace the holder from its core, and wait for what only the holder can give until its turn is
  // over.
  bool wake_progress_ = false, wake_caller_ = false;
  bool needed_lately_ = false;               // the caller rang because no thread polled by itself
  idle_predictor predictor_;                 // of the caller's next compute phase
  std::chrono::milliseconds until_wake_{1};  // doubles with each sleep that brought nothing
  unsigned empty_turns_ = 0;                 // of the caller, since something happened
  bool moved_ = false;                       // the last look by calls moved something
  bool caller_polls_ = false;                // a thread is in a polling loop inside run()
  detail::time_point caller_deadline_{};     // until when the caller sleeps
  // By calls only:
  std::atomic<bool> by_calls_{false};  // written with the progress lock held
  bool calls_soon_ = false;  // the last poll was empty: the thread that polled will poll again
  const void* sleeper_ = nullptr;  // the seat of the thread that sleeps, or is about to
  doorbell doorbell_;
  engine_counters counters_;
  runtime::trace trace_;  // written when every thread that records has gone

  remote_completion_queue remote_completions_;  // the completion queue's entrance for other threads
  operation_list completing_;                   // taken out of both; the leader's own
  std::atomic<bool> caller_asleep_{false};  // the caller sleeps, or looks once more before it does
  std::atomic<std::uint32_t> ringing_{0};   // threads that may ring without the progress lock, and
                                            // do not outlive the engine
  wait_strategy caller_wait_strategy_;
  detail::time_point next_descriptor_look_{};  // caller only

  // One wait set per sleeping thread (docs/adr/0003): descriptors live in the progress thread's, or
  // in the caller's if there is no such thread.
  std::unique_ptr<wait_set> caller_wait_;
  std::unique_ptr<wait_set> progress_wait_;
  std::string wait_set_reason_;
  // What arrives on descriptors of sources. They stay in the caller's set; in the progress thread's
  // they are only while the caller computes, or each message to a polling caller would wake it.
  std::deque<handle_watcher> caller_handles_;
  std::deque<handle_watcher> progress_handles_;
  unsigned turns_ = 0;  // of the caller
  one_shot_watches watches_;
  bell_watcher<event_fd> caller_bell_watcher_;
  bell_watcher<event_fd> progress_bell_watcher_;
  bell_watcher<wakeup_receiver> caller_wakeup_watcher_;
  bell_watcher<wakeup_receiver> progress_wakeup_watcher_;

  // Who leads, when several threads are inside run(). Model: tests/models/followers.pml.
  std::mutex lead_mutex_;
  std::condition_variable lead_changed_;
  bool led_ = false;
  std::thread::id leader_;
  std::atomic<int> followers_{0};

  std::atomic<bool> stopping_{false};
  std::atomic<detail::time_point> progress_deadline_{detail::time_point::min()};

  // No doorbell rings for what arrives on descriptors while the caller computes. So the progress
  // thread looks now and then whether the caller has gone away; the caller rings it for itself if
  // it does not look, or if absences were long lately. docs/threading.md. Model:
  // tests/models/computing.pml.
  std::atomic<bool> ticks_{false};            // the progress thread looks by itself
  std::atomic<std::uint32_t> looks_{0};       // by calls; written with the progress lock held
  std::uint32_t looks_at_last_tick_ = 0;      // progress thread's
  std::chrono::nanoseconds tick_{};           // progress thread's
  std::uint32_t computing_at_last_tick_ = 0;  // progress thread's
  exit_gate gate_{};                          // the progress thread's, if there is one
  std::thread progress_;
  const std::unique_ptr<completion_thread>
      completion_thread_;  // null: the thread that releases the progress lock hands out itself
  const pid_t process_ = ::getpid();
};

}  // namespace weft::runtime
