// SPDX-License-Identifier: Apache-2.0
#include <weft/external_loop.hpp>

#include "api/core/core.hpp"
#include "proto/messenger/message_errors.hpp"

namespace weft {

using advice = runtime::wait_strategy::advice;
using std::chrono::steady_clock;

// A thread that waits with a time limit reads the clock once in so many passes that move messages.
constexpr unsigned polls_between_clocks = 64;

// How long back_off() sleeps at most; a message ends it. The loop may poll other things as well.
constexpr std::chrono::microseconds longest_nap{200};

struct external_loop::wait_strategy {
  runtime::idle_backoff empty_polls;
};

external_loop::external_loop(context& of)
    : core_(detail::core_of(of)),
      run_loop_(core_.engine()),
      home_(detail::run_loop::thread_token()),
      wait_strategy_(new wait_strategy{core_.engine().external().backoff()}) {
  core_.engine().external().begin();
}

external_loop::~external_loop() {
  const bool in_a_call =
      detail::run_loop::here() == &run_loop_;  // the process exits from inside it
  if (!core_.engine().is_inherited() && !in_a_call) core_.engine().external().end();
}

external_loop::progress_guard::progress_guard(external_loop& p) noexcept
    : external_loop_(p), call_(p) {
  p.core_.engine().enter();
}
external_loop::progress_guard::~progress_guard() {
  runtime::engine& engine = external_loop_.core_.engine();
  operation_list coroutines = engine.external().take_coroutines();
  engine.leave();
  while (operation* const op = coroutines.pop()) op->complete();
}

bool external_loop::progress_guard::try_send(const endpoint& to, const_buffer data, tag t,
                                             std::uint64_t immediate) noexcept {
  return to && (t.value < first_reserved_tag || detail::is_group_tag(t)) &&
         detail::internals::peer_of(to)->try_send_inline(to.id(), t.value, data, immediate);
}

unsigned external_loop::progress_guard::poll(unsigned passes) noexcept {
  const bool at_home = detail::run_loop::here() == &external_loop_.run_loop_;
  runtime::idle_backoff& empty_polls = external_loop_.wait_strategy_->empty_polls;
  if (at_home) {
    empty_polls.before_poll();
    // The sender of the awaited message may need this core.
    if (empty_polls.waits.crowded()) passes = 1;
  }
  runtime::engine& engine = external_loop_.core_.engine();
  engine.go_on();
  const unsigned ended = engine.external().poll(passes);
  if (at_home && (ended != 0 || engine.external().moved())) empty_polls.reset();
  return ended;
}

void external_loop::back_off(unsigned passes) noexcept {
  const call here(*this);
  if (detail::run_loop::here() != &run_loop_) return;
  runtime::external_polling& polling = core_.engine().external();
  runtime::idle_backoff& empty_polls = wait_strategy_->empty_polls;
  if (polling.back_off(empty_polls, passes) != advice::sleep || empty_polls.others_run) return;
  // A thread that is alone on its core, but for neighbours, has chosen to poll.
  if (!empty_polls.waits.let_others_run() && empty_polls.waits.crowded())
    polling.sleep_until(steady_clock::now() + longest_nap, nullptr, nullptr);
}

bool external_loop::is_owner_thread() const noexcept {
  return detail::run_loop::thread_token() == home_;
}

bool external_loop::wait(steady_clock::time_point until, bool (*over)(void*), void* argument) {
  // True once is true for good, also where a thread asks that is about to sleep: `over` may take
  // what it waits for.
  struct question {
    bool (*const over)(void*);
    void* const argument;
    bool answer = false;
    bool ask() { return answer || (answer = over(argument)); }
  } is_over{over, argument};
  runtime::external_polling& polling = core_.engine().external();
  runtime::idle_backoff empty_polls = polling.backoff();
  const auto too_late = [until] {
    return until != steady_clock::time_point::max() && steady_clock::now() >= until;
  };
  for (unsigned busy = 0;;) {
    bool moved = false;
    {
      progress_guard hold(*this);
      if (is_over.ask()) return true;
      const unsigned ended = hold.poll();
      if (ended != 0 && is_over.ask()) return true;
      moved = ended != 0 || polling.moved();
    }
    const call here(*this);
    if (moved) {
      empty_polls.reset();
      if (++busy % polls_between_clocks == 0 && too_late()) return false;
      continue;
    }
    const advice next = polling.back_off(empty_polls);
    if (empty_polls.count != 0) continue;
    if (too_late()) return false;
    if (next == advice::sleep)
      polling.sleep_until(
          until, [](void* q) { return static_cast<question*>(q)->ask(); }, &is_over);
  }
}

int external_loop::descriptor() const noexcept { return core_.engine().external().descriptor(); }

std::optional<steady_clock::time_point> external_loop::arm() noexcept {
  const call here(*this);
  return core_.engine().external().arm();
}

void park_threads() noexcept { runtime::exit_gate::close_all(); }

}  // namespace weft
