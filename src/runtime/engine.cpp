// SPDX-License-Identifier: Apache-2.0
// The engine's caller side: polling, resuming, sleeping inside run(). The progress thread's side is
// in engine_progress.cpp.
#include "runtime/engine.hpp"

#include <sys/epoll.h>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/membarrier.hpp"

namespace weft::runtime {

namespace {
// Under steady traffic the clock is read once in so many passes.
constexpr std::uint32_t passes_between_clocks = 256;
// How often the caller looks at quiet descriptors while it has other things to do.
constexpr unsigned turns_between_handles = 32;
constexpr std::chrono::milliseconds longest_until_nudge{256};
}  // namespace

engine::engine(progress_mode mode, wait_strategy::settings waiting,
               const std::string& wanted_wait_set, const clock* virtual_time)
    : mode_(mode),
      waiting_([&] {
        waiting.never_sleep = mode == progress_mode::polling;
        waiting.never_spin = mode == progress_mode::interrupt;
        return waiting;
      }()),
      has_progress_thread_(mode == progress_mode::dedicated || mode == progress_mode::two_threads),
      virtual_time_(virtual_time),
      doorbell_(has_progress_thread_),
      caller_wait_strategy_(waiting_),
      caller_bell_watcher_(doorbell_.caller_bell()),
      progress_bell_watcher_(doorbell_.progress_bell()),
      caller_wakeup_watcher_(doorbell_.caller_wakeup()),
      progress_wakeup_watcher_(doorbell_.progress_wakeup()),
      completion_thread_(mode == progress_mode::two_threads ? std::make_unique<completion_thread>()
                                                            : nullptr) {
  wait_set_choice choice = make_wait_set(wanted_wait_set);
  wait_set_reason_ = choice.reason;
  caller_wait_ = std::move(choice.set);
  caller_wait_->add(doorbell_.caller_bell().fd(), EPOLLIN, caller_bell_watcher_);
  caller_wait_->add(doorbell_.caller_wakeup().fd(), EPOLLIN, caller_wakeup_watcher_);
  if (has_progress_thread_) {
    progress_wait_ = make_wait_set(wanted_wait_set).set;
    progress_wait_->add(doorbell_.progress_bell().fd(), EPOLLIN, progress_bell_watcher_);
    progress_wait_->add(doorbell_.progress_wakeup().fd(), EPOLLIN, progress_wakeup_watcher_);
  }
}

void engine::add(pollable& s) {
  if (s.handle() >= 0) {
    caller_handles_.emplace_back(s, *caller_wait_, true).watch();
    if (has_progress_thread_) progress_handles_.emplace_back(s, *progress_wait_, false);
  }
  pollables_.push_back(&s);
  if (order_)
    order_->add(s);
  else
    polled_.push_back(&s);
}

bool engine::descriptors_in_use() const noexcept {
  for (const handle_watcher& h : caller_handles_)
    if (h.worth_watching()) return true;
  return false;
}

/// Whether there is something that comes without a ring, or for coroutines that do not wait for the
/// caller: then the progress thread has to learn that it computes.
bool engine::needed_while_computing() const noexcept {
  return outstanding_elsewhere_ != 0 || pollables_are_busy() || descriptors_in_use();
}

bool engine::pollables_are_busy() const noexcept {
  for (const pollable* s : pollables_)
    if (s->busy) return true;
  return false;
}

bool engine::something_to_do() const noexcept { return outstanding_ != 0 || pollables_are_busy(); }

/// Gives the progress lock, and then wakes who is to be woken and hands out what ended for other
/// executors: they may take a lock, start a thread, or want the progress lock themselves.
[[gnu::noinline, gnu::cold]] void engine::release_and_notify(bool wake_caller) noexcept {
  operation_list others = elsewhere_.take();
  const bool wake_progress = std::exchange(wake_progress_, false);
  if (std::exchange(wake_caller_, false)) wake_caller = true;
  // Who has the progress lock next may end what leads to the end of the context.
  ringing_.fetch_add(1, std::memory_order_relaxed);
  give();
  if (wake_progress) doorbell_.progress_bell().ring();
  if (wake_caller) doorbell_.caller_bell().ring();
  if (completion_thread_ && !others.empty()) completion_thread_->take(others);
  ringing_.fetch_sub(1, std::memory_order_release);
  while (operation* op = others.pop()) op->on->post(*op);
}

unsigned engine::pass() noexcept {
  unsigned events = 0;
  in_pass_ = true;
  for (pollable* s : polled_)
    if (s->worth_polling) events += s->poll();
  in_pass_ = false;
  if (++passes_ % passes_between_clocks == 0) [[unlikely]]
    end_due_timers();
  return events;
}

bool engine::pollables_have_work() noexcept {
  for (pollable* s : pollables_)
    if (s->has_work()) return true;
  return false;
}

void engine::wake_peers() noexcept {
  wakeup_deferred_ = false;
  for (pollable* s : pollables_) s->wake_peer();
}

/// A peer that was neither asleep nor away when it was rung may have gone away since, to compute
/// with a receive posted for what lies in its ring: no thread there polls, and it rang no peer. A
/// side that waits here asks again, soon at first.
time_point engine::wake_peers_and_deadline() noexcept {
  wake_peers();
  bool unconsumed = false;
  for (const pollable* s : pollables_) unconsumed = unconsumed || s->has_unconsumed();
  const time_point deadline = next_deadline();
  if (!unconsumed) return deadline;
  const time_point again = now() + until_wake_;
  until_wake_ = std::min(2 * until_wake_, longest_until_nudge);
  return std::min(deadline, again);
}

void engine::complete_all(operation_list batch) noexcept {
  completing_.append(batch);
  while (operation* op = completing_.pop()) op->complete();
  // A follower counts itself and then looks at its end; this thread has written that end and now
  // looks at the count. The follower makes both sides fence (run_until_done), where the kernel lets
  // it. Model: tests/models/followers.pml.
  if (!progress_lock_.can_bias()) std::atomic_thread_fence(std::memory_order_seq_cst);
  if (followers_.load(std::memory_order_relaxed) != 0) {
    const std::lock_guard lock(lead_mutex_);
    lead_changed_.notify_all();
  }
}

/// The caller is about to leave the engine, for long perhaps.
/// \param to_do the progress thread is needed meanwhile
void engine::go_to_user_code(bool to_do) noexcept {
  caller_polls_ = false;
  if (to_do)
    enter_computing();
  else if (!timers_.empty())
    tell_of_timers();
  if (wakeup_deferred_) [[unlikely]]
    wake_peers();
}

/// Progress lock held, leading thread or by calls. With io_uring and nothing there it costs some
/// loads.
void engine::caller_looks_at_handles() noexcept {
  if (!descriptors_in_use()) return;
  if (caller_wait_->poll() != 0) tell(caller_handles_);
}

/// Completions are for the thread that leads. Another thread, or a coroutine of this one, only
/// moves messages; what ends thereby is completed when the leader comes by.
unsigned engine::poll_once() noexcept {
  go_on();
  const bool lead = !leads_here() && try_to_lead();
  unsigned events = 0;
  {
    std::optional<inside> here;
    if (lead) here.emplace(*this);
    enter();
    // Another thread inside run() polls for itself, as does a thread that sleeps by calls.
    if ((lead || leads_here() || by_calls_) && !caller_asleep_.load(std::memory_order_relaxed))
      caller_looks_at_handles();
    events = pass();
    flush_pollables();  // the next pass may be long in coming
    end_due_timers();
    if (wakeup_deferred_) wake_peers();
    if (caller_asleep_.load(std::memory_order_relaxed)) arm_pollables();
    operation_list batch;
    if (lead) batch = ended_.take();
    leave();
    if (lead) {
      operation_list posted = remote_completions_.take();
      batch.append(posted);
      if (!batch.empty()) ++events;
      complete_all(batch);
    }
  }
  if (lead) stop_leading();
  return events;
}

bool engine::try_to_lead() noexcept {
  const std::lock_guard lock(lead_mutex_);
  if (led_) return false;
  led_ = true;
  leader_ = std::this_thread::get_id();
  return true;
}

bool engine::is_in_use() noexcept {
  if (leads_here() || std::this_thread::get_id() == progress_.get_id()) return true;
  const std::unique_lock lock(lead_mutex_, std::try_to_lock);
  return !lock || (led_ && !by_calls_);
}

void engine::stop_leading() noexcept {
  {
    const std::lock_guard lock(lead_mutex_);
    led_ = false;
  }
  lead_changed_.notify_all();
}

void engine::lead_until(const std::atomic<bool>& done) noexcept {
  const inside here(*this);
  caller_wait_strategy_.reset();
  while (!done.load(std::memory_order_acquire)) {
    enter();
    if (!caller_polls_) {
      caller_polls_ = true;
      doorbell_.disarm_computing();
      stop_listening();
      if (predictor_.has_begun()) [[unlikely]]
        predictor_.end(now());
    }
    // In empty passes the progress lock is kept, unless another thread asks for it: taking it costs
    // as much as a pass.
    unsigned events = 0;
    for (unsigned left = caller_wait_strategy_.passes_in_turn(); left != 0; --left) {
      events = pass();
      if (events != 0 || !ended_.empty() || !remote_completions_.empty() || progress_lock_.wanted())
        break;
    }
    if (events == 0 || ++turns_ % turns_between_handles == 0) caller_looks_at_handles();
    operation_list batch = ended_.take();
    if (!remote_completions_.empty()) [[unlikely]] {
      operation_list posted = remote_completions_.take();
      batch.append(posted);
    }
    // A scope's destructor, deep inside a completion, may wait for the next one of that batch.
    if (!batch.empty() || !completing_.empty()) {
      go_to_user_code(something_to_do());
      release_or_notify();
      complete_all(batch);
      caller_wait_strategy_.reset();
      empty_turns_ = 0;
      continue;
    }
    release_or_notify();
    if (progress_lock_.wanted()) [[unlikely]]
      progress_lock_.yield_to_waiters();
    if (events != 0) {
      caller_wait_strategy_.reset();
      empty_turns_ = 0;
      continue;
    }
    switch (caller_wait_strategy_.on_empty_polls()) {
      case wait_strategy::advice::look_around:
        caller_looks_around();
        break;
      case wait_strategy::advice::sleep:
        caller_sleeps();
        break;
    }
  }
  const holder hold(*this);
  caller_polls_ = false;
  flush_pollables();
  go_to_user_code(something_to_do());
}

void engine::caller_looks_around() noexcept {
  enter();
  end_due_timers();
  // A peer that has not seen a message for a microsecond or two may have no thread that polls.
  if (++empty_turns_ >= empty_turns_until_wake && caller_wait_strategy_.others_had_a_turn())
    wake_peers();
  release_or_notify();
  if (has_progress_thread_) return;
  // Descriptors are this thread's to look at; a peer's death may wait for a millisecond.
  const auto when = now();
  if (when < next_descriptor_look_) return;
  next_descriptor_look_ = when + std::chrono::milliseconds{1};
  watches_.take_up(*caller_wait_);
  caller_wait_->poll();
}

void engine::caller_sleeps() noexcept {
  enter();
  caller_asleep_.store(true, std::memory_order_seq_cst);
  doorbell_.arm_asleep();
  end_due_timers();
  const bool work = !ended_.empty() || !remote_completions_.empty() || pollables_have_work();
  const auto deadline = wake_peers_and_deadline();
  if (work) {
    caller_asleep_.store(false, std::memory_order_relaxed);
    doorbell_.disarm_asleep();
    release_or_notify();
    return;
  }
  arm_pollables();
  caller_polls_ = false;
  caller_deadline_ = deadline;
  release_or_notify();

  const auto before = now();
  if (!has_progress_thread_) watches_.take_up(*caller_wait_);
  const unsigned told = caller_wait_->wait(deadline);
  counters_.sleeps.fetch_add(1, std::memory_order_relaxed);
  counters_.wake_ups.fetch_add(told != 0 ? 1 : 0, std::memory_order_relaxed);
  const auto woken = now();
  counters_.nanoseconds_asleep.fetch_add(static_cast<std::uint64_t>((woken - before).count()),
                                         std::memory_order_relaxed);

  enter();
  tell(caller_handles_);
  trace_.slice(trace::kind::caller_sleeps, before, woken, told);
  caller_asleep_.store(false, std::memory_order_relaxed);
  doorbell_.disarm_asleep();
  caller_polls_ = true;
  if (told != 0) until_wake_ = shortest_until_wake;
  end_due_timers();
  if (told != 0 && ended_.empty() && remote_completions_.empty() && !pollables_have_work())
    counters_.empty_wake_ups.fetch_add(1, std::memory_order_relaxed);
  release_or_notify();
}

void engine::run_until_done(const std::atomic<bool>& done) noexcept {
  exit_gate::expect_exit();
  go_on();
  std::unique_lock lock(lead_mutex_);
  if (led_ && leader_ == std::this_thread::get_id()) {
    lock.unlock();
    lead_until(done);
    return;
  }
  if (led_) {
    followers_.fetch_add(1, std::memory_order_seq_cst);
    if (progress_lock_.can_bias()) private_fence();
    lead_changed_.wait(lock, [&] { return !led_ || done.load(std::memory_order_acquire); });
    followers_.fetch_sub(1, std::memory_order_relaxed);
    if (done.load(std::memory_order_acquire)) return;
  }
  led_ = true;
  leader_ = std::this_thread::get_id();
  lock.unlock();
  lead_until(done);
  stop_leading();
}

void engine::post(operation& work) noexcept {
  // The work may lead to the end of the context before this call has returned.
  ringing_.fetch_add(1, std::memory_order_relaxed);
  remote_completions_.push(work);
  // The push is a full fence: either this load sees the sleeper, or its last look sees the push.
  if (caller_asleep_.load(std::memory_order_seq_cst)) doorbell_.caller_bell().ring();
  ringing_.fetch_sub(1, std::memory_order_release);
}

std::uint64_t engine::watch_once(unique_fd fd, std::function<void()> fire) {
  const std::uint64_t watch = watches_.add(std::move(fd), std::move(fire));
  ring_for_watches();
  return watch;
}

void engine::unwatch(std::uint64_t watch) noexcept {
  watches_.remove(watch);
  ring_for_watches();
}

/// The thread that sleeps takes them up.
void engine::ring_for_watches() noexcept {
  if (has_progress_thread_)
    doorbell_.progress_bell().ring();
  else if (caller_asleep_.load(std::memory_order_seq_cst))
    doorbell_.caller_bell().ring();
}

std::string engine::describe() const {
  const char* modes[] = {"dedicated progress thread", "polling", "interrupt",
                         "two progress threads"};
  std::string text =
      fmt::format("{}; sleeps in {}", modes[static_cast<int>(mode_)], caller_wait_->name());
  if (!wait_set_reason_.empty()) text += fmt::format(" ({})", wait_set_reason_);
  if (!doorbell_.fences_senders()) text += "; membarrier refused, so senders fence for themselves";
  return text;
}

}  // namespace weft::runtime
