// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/progress_core.hpp"

#include <utility>

#include "runtime/os/pause.hpp"
#include "runtime/progress/two_threads.hpp"

namespace weft::runtime {

namespace {

constexpr std::chrono::microseconds time_between_prompt_polls{20};
constexpr std::chrono::milliseconds time_between_patient_polls{1};
// A thread that sleeps until then at most is not woken to ring again.
constexpr std::chrono::milliseconds soon{4};

wait_strategy::settings fitted(wait_strategy::settings waiting, progress_mode mode) noexcept {
  waiting.never_sleep = mode == progress_mode::polling;
  waiting.never_spin = mode == progress_mode::interrupt;
  return waiting;
}

}  // namespace

progress_core::progress_core(const detail::run_loop& self, progress_mode wanted_mode,
                             wait_strategy::settings wanted_waiting,
                             const std::string& wanted_wait_set, const clock* time,
                             socket_folder bells)
    : mode(wanted_mode),
      waiting(fitted(wanted_waiting, wanted_mode)),
      has_progress_thread(mode == progress_mode::dedicated || mode == progress_mode::two_threads),
      virtual_time(time),
      bell(has_progress_thread, std::move(bells)),
      self_(self),
      two_threads_(mode == progress_mode::two_threads ? std::make_unique<two_threads>(*this)
                                                      : nullptr) {
  wait_set_choice choice = make_wait_set(wanted_wait_set);
  wait_set_reason = choice.reason;
  caller_reactor = std::make_unique<reactor>(std::move(choice.set), bell.caller_bell(),
                                             bell.caller_wakeup(), reactor::handles::stay);
  if (has_progress_thread)
    progress_reactor =
        std::make_unique<reactor>(make_wait_set(wanted_wait_set).set, bell.progress_bell(),
                                  bell.progress_wakeup(), reactor::handles::leave);
}

progress_core::~progress_core() = default;

/// The calls in this function may take a lock, start a thread, or want the progress lock itself.
[[gnu::noinline, gnu::cold]] void progress_core::release_and_notify(bool wake_caller) noexcept {
  if (completions.has_background()) find_thread_for_background();
  operation_list others = completions.take_elsewhere();
  const std::uint8_t wanted = std::exchange(on_release_, std::uint8_t{0});
  const bool hands_over = two_threads_ && two_threads_->takes_operations() && !others.empty();
  // The next holder of the progress lock may end an operation that leads to the end of the context.
  ringing_.fetch_add(1, std::memory_order_relaxed);
  release();
  if ((wanted & wake_progress) != 0) bell.progress_bell().ring();
  if (wake_caller || (wanted & wake_the_caller) != 0) bell.caller_bell().ring();
  if ((wanted & wake_completion) != 0) two_threads_->wake();
  if (hands_over) two_threads_->take(others);
  if ((wanted & end_fd_waits) != 0) waits.end_waits();
  ringing_.fetch_sub(1, std::memory_order_release);
  while (operation* op = others.pop()) {
    if (trace.tree()) trace.tree()->note("posted to its executor", {});
    op->on->post(*op);
  }
}

void progress_core::open_call_tree(const std::string& file, std::uint32_t rank,
                                   std::uint64_t messages) {
  trace.open_tree(file, rank, messages);
  passes_in_tree.emplace(*trace.tree());
  passes_in_tree->surround(pollables);
}

/// A polling caller finds background work by itself; so does the progress thread while it polls,
/// which takes the work before it releases the lock.
void progress_core::find_thread_for_background() noexcept {
  if (caller.is_asleep())
    wake_caller();
  else if (caller.is_away())
    phase.wake_one_thread();
}

void background_executor::post(operation& work) noexcept { core_.post_background(work); }

void progress_core::post_background(operation& work) noexcept {
  const holder hold(*this);
  completions.post_background(work);
}

void progress_core::await_reaction() noexcept {
  if (caller.polls || leads_here()) return;
  const time_point latest = now() + soon;
  if (caller.is_asleep()) {
    if (caller.deadline > latest) wake_caller();
  } else if (has_progress_thread && phase.progress_deadline() > latest) {
    wake_progress_thread();
  }
}

void progress_core::poll_caller_waits() noexcept {
  if (has_progress_thread) return;
  const time_point when = now();
  if (when < next_poll_of_waits_ && !waits.has_news()) return;
  waits.take_up(caller_reactor->set());
  if (waits.is_prompt())
    next_poll_of_waits_ = when + time_between_prompt_polls;
  else
    next_poll_of_waits_ = when + time_between_patient_polls;
  if (caller_reactor->poll() != 0 || waits.has_ended()) dispatch_ready(*caller_reactor);
}

void progress_core::sleep_in_epoll() {
  auto fresh = std::make_unique<reactor>(make_epoll_wait_set(), bell.caller_bell(),
                                         bell.caller_wakeup(), reactor::handles::stay);
  for (pollable* s : pollables) fresh->add(*s);
  if (!has_progress_thread) waits.withdraw(caller_reactor->set());
  caller_reactor.swap(fresh);
}

void progress_core::post_remote(operation& work) noexcept {
  // The work may lead to the end of the context before this call has returned.
  ringing_.fetch_add(1, std::memory_order_relaxed);
  completions.remote().push(work);
  // The push is a full fence: either this load sees the sleeping thread, or its last poll sees the
  // push.
  if (caller.asleep.load(std::memory_order_seq_cst)) bell.caller_bell().ring();
  ringing_.fetch_sub(1, std::memory_order_release);
}

void progress_core::ring_for_waits() noexcept {
  if (has_progress_thread)
    progress_reactor->set().wake();  // not its bell: the thread need not take the progress lock
  else if (caller.asleep.load(std::memory_order_seq_cst))
    bell.caller_bell().ring();
}

void progress_core::await_ringing() const noexcept {
  while (ringing_.load(std::memory_order_acquire) != 0) cpu_pause();
}

progress_state progress_core::state() const noexcept {
  if (caller.is_asleep()) return progress_state::asleep;
  if (!caller.is_away()) return progress_state::polling;
  if (phase.listens()) return progress_state::listening;
  return bell.is_computing() ? progress_state::computing : progress_state::idle;
}

void progress_core::trace_state() noexcept {
  const progress_state is = state();
  if (is == traced_state_) return;
  const time_point here = now();
  if (traced_since_ != time_point{}) trace.slice(traced_state_, traced_since_, here);
  traced_state_ = is;
  traced_since_ = here;
}

}  // namespace weft::runtime
