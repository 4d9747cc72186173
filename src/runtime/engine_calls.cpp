// SPDX-License-Identifier: Apache-2.0
// The engine's caller side for loops of other libraries: one poll at a time.
//
// Such a caller does not say when it goes away to compute. After a look that brought something, and
// after a posting call, it counts as computing, as between the completions of run(). After a look
// in vain it is expected back soon, and the progress thread stays off duty; that one counts looks
// meanwhile, every 0.1 to 1 ms, and takes over when there were none. After that the next absence is
// expected to be long as well, and that thread is told at once (engine_computing.cpp).
#include <sched.h>
#include <sys/epoll.h>
#include <time.h>

#include <algorithm>

#include "runtime/engine.hpp"

namespace weft::runtime {

namespace {
// How often quiet descriptors are looked at while others bring something, or while there is a
// progress thread, too.
constexpr unsigned looks_between_handles = 32;
// A thread that waits while another one sleeps in the wait set looks this often.
constexpr timespec nap{0, 100'000};
// What a loop does between two empty polls takes less, unless it gives the core away.
constexpr std::chrono::nanoseconds longest_alone = std::chrono::microseconds{1};
}  // namespace

/// A loop that is not ours is to watch this one's wait set, which with io_uring needs a thread that
/// enters the kernel. So the set is made anew.
void engine::begin_calls() {
  exit_gate::expect_exit();
  auto set = make_epoll_wait_set();
  std::deque<handle_watcher> handles;
  const holder hold(*this);
  const std::lock_guard lock(lead_mutex_);
  if (led_)
    throw error(errc::invalid_argument,
                "this context is inside run() or driven by calls already; it can be one of them");
  set->add(doorbell_.caller_bell().fd(), EPOLLIN, caller_bell_watcher_);
  set->add(doorbell_.caller_wakeup().fd(), EPOLLIN, caller_wakeup_watcher_);
  for (pollable* s : pollables_)
    if (s->handle() >= 0) handles.emplace_back(*s, *set, true).watch();
  if (!has_progress_thread_) watches_.withdraw(*caller_wait_);
  caller_wait_.swap(set);
  caller_handles_.swap(handles);
  by_calls_ = led_ = true;
  leader_ = std::this_thread::get_id();
}

void engine::end_calls() noexcept {
  {
    const holder hold(*this);
    by_calls_ = false;
    calls_soon_ = false;
    if (caller_asleep_.load(std::memory_order_relaxed)) wake_up();
  }
  stop_leading();
}

unsigned engine::poll(unsigned passes) noexcept {
  go_on();
  if (caller_asleep_.load(std::memory_order_relaxed) && sleeper_ == thread_token()) [[unlikely]]
    wake_up();
  const bool another_sleeps = caller_asleep_.load(std::memory_order_relaxed);
  if (!another_sleeps) [[likely]] {
    caller_polls_ = true;
    calls_soon_ = false;
    doorbell_.disarm_computing();
    stop_listening();
    if (predictor_.predicts_long() && predictor_.has_begun()) [[unlikely]]
      predictor_.end(now());
  }
  looks_.store(looks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  unsigned events = pass();
  while (ended_.empty() && outstanding_ != 0 && --passes != 0) events += pass();
  moved_ = events != 0;
  if (!another_sleeps) {
    if ((events != 0 || has_progress_thread_) && ++turns_ % looks_between_handles == 0) {
      // Looks may go on to bring something for as long as a transfer takes.
      if (events != 0 && wakeup_deferred_) wake_peers();
      caller_looks_at_handles();
      look_at_watches();
    } else if (events == 0 && !has_progress_thread_) {
      caller_looks_at_handles();
    }
  }
  flush_pollables();
  end_due_timers();
  unsigned ended = 0;
  for (operation_list batch = ended_.take(); operation* op = batch.pop(); ++ended) op->complete();
  if (!another_sleeps) [[likely]] {
    end_look(ended);
  } else {
    arm_pollables();  // no thread may poll here again for long
    if (ended != 0) wake_caller_ = true;
  }
  return ended;
}

void engine::end_look(unsigned ended) noexcept {
  if (ended != 0 || moved_) empty_turns_ = 0;
  if (ended != 0 || !has_progress_thread_) return go_to_user_code(something_to_do());
  caller_polls_ = false;
  calls_soon_ = true;
  if (ticks_.load(std::memory_order_relaxed) || !something_to_do()) [[likely]]
    return;
  ticks_.store(true, std::memory_order_relaxed);
  wake_progress_ = true;
}

void engine::idle_backoff::look_again() noexcept {
  if (left == time_point{}) [[likely]]
    return;
  others_run = std::chrono::steady_clock::now() - left > longest_alone;
  left = {};
}

wait_strategy::advice engine::back_off(idle_backoff& so_far, unsigned passes) noexcept {
  if ((so_far.count += passes) < so_far.waits.passes_in_turn())
    return wait_strategy::advice::look_around;
  so_far.count = 0;
  const wait_strategy::advice next = so_far.waits.on_empty_polls(so_far.others_run);
  look_around(so_far.waits.others_had_a_turn());
  if (so_far.waits.crowded()) so_far.left = std::chrono::steady_clock::now();
  return next;
}

/// As caller_looks_around, but several threads may come here.
void engine::look_around(bool others_had_a_turn) noexcept {
  const holder hold(*this);
  if (caller_asleep_.load(std::memory_order_relaxed)) return;  // the thread that sleeps has done it
  end_due_timers();
  if (++empty_turns_ >= empty_turns_until_wake && others_had_a_turn) wake_peers();
  look_at_watches();
}

/// A peer's death may wait for a millisecond. Progress lock held.
void engine::look_at_watches() noexcept {
  if (has_progress_thread_) return;
  const time_point when = now();
  if (when < next_descriptor_look_) return;
  next_descriptor_look_ = when + std::chrono::milliseconds{1};
  watches_.take_up(*caller_wait_);
  if (caller_wait_->poll() != 0) tell(caller_handles_);
}

std::optional<time_point> engine::arm(bool (*over)(void*), void* argument) noexcept {
  const holder hold(*this);
  if (caller_asleep_.load(std::memory_order_relaxed) && sleeper_ != thread_token())
    return std::nullopt;
  sleeper_ = thread_token();
  // Bells are heard before the word is raised, never after: a peer rings once per value, perhaps
  // for what was seen long ago. Heard now, that ring would be its only one.
  if (caller_wait_->poll() != 0) until_wake_ = shortest_until_wake;
  tell(caller_handles_);
  caller_asleep_.store(true, std::memory_order_seq_cst);
  doorbell_.arm_asleep();
  if (!has_progress_thread_) watches_.take_up(*caller_wait_);
  flush_pollables();
  end_due_timers();
  // Another thread's look may have ended it since this one's, and saw no thread to wake.
  const bool work = !ended_.empty() || pollables_have_work() || (over && over(argument));
  const time_point deadline = wake_peers_and_deadline();
  if (work) {
    wake_up();
    return std::nullopt;
  }
  arm_pollables();
  caller_polls_ = calls_soon_ = false;
  caller_deadline_ = deadline;
  return deadline;
}

void engine::wake_up() noexcept {
  caller_asleep_.store(false, std::memory_order_relaxed);
  doorbell_.disarm_asleep();
  if (caller_wait_->poll() != 0) until_wake_ = shortest_until_wake;
  tell(caller_handles_);
}

void engine::sleep_until(time_point when, bool (*over)(void*), void* argument) noexcept {
  const std::optional<time_point> at_most = arm(over, argument);
  if (!at_most) {
    // Something is there; or another thread sleeps already, and this one looks for itself.
    if (caller_asleep_.load(std::memory_order_relaxed)) ::nanosleep(&nap, nullptr);
    return;
  }
  const time_point before = now();
  const unsigned told = caller_wait_->wait(std::min(*at_most, when));
  const time_point woken = now();
  counters_.sleeps.fetch_add(1, std::memory_order_relaxed);
  counters_.wake_ups.fetch_add(told != 0 ? 1 : 0, std::memory_order_relaxed);
  counters_.nanoseconds_asleep.fetch_add(static_cast<std::uint64_t>((woken - before).count()),
                                         std::memory_order_relaxed);
  const holder hold(*this);
  trace_.slice(trace::kind::caller_sleeps, before, woken, told);
  if (told != 0) until_wake_ = shortest_until_wake;
  wake_up();
}

// --- the progress thread's side ------------------------------------------------------------------

/// As of the last time that it was asked. Progress lock held.
bool engine::has_looked_lately() noexcept {
  const std::uint32_t before = looks_at_last_tick_;
  looks_at_last_tick_ = looks_.load(std::memory_order_relaxed);
  return looks_at_last_tick_ != before;
}

/// Without the progress lock while there are looks, so that they are not disturbed.
bool engine::tick_finds_no_looks() noexcept {
  if (has_looked_lately()) {
    tick_ = std::min(2 * tick_, std::chrono::nanoseconds(std::chrono::milliseconds{1}));
    return false;
  }
  const holder hold(*this);
  calls_soon_ = false;
  // A thread that sleeps does not poll either, and is rung for what comes: that says nothing of
  // computing.
  if (!caller_asleep_.load(std::memory_order_relaxed)) predictor_.saw_long_phase();
  return true;
}

}  // namespace weft::runtime
