// SPDX-License-Identifier: Apache-2.0
#include <weft/pump.hpp>

#include <sched.h>

#include "api/core.hpp"

namespace weft {

using advice = runtime::patience::advice;
using std::chrono::steady_clock;

// How often a thread that waits for a moment looks at the clock while other messages come and go.
constexpr unsigned looks_between_clocks = 64;

struct pump::patience {
  runtime::engine::vain_looks looks;
};

pump::pump(context& of)
    : core_(of.core()),
      driver_(core_.engine()),
      home_(detail::driver::seat()),
      patience_(new patience{runtime::engine::vain_looks(core_.engine())}) {
  core_.engine().begin_calls();
}

pump::~pump() {
  const bool in_a_call = detail::driver::here() == &driver_;  // out of which the process exits
  if (!core_.engine().is_inherited() && !in_a_call) core_.engine().end_calls();
}

pump::holding::holding(pump& p) noexcept : pump_(p), call_(p) { p.core_.engine().enter(); }
pump::holding::~holding() { pump_.core_.engine().leave(); }

bool pump::holding::send_now(const endpoint& to, const_buffer data, tag t,
                             std::uint64_t immediate) noexcept {
  return to && t.value < first_reserved_tag &&
         to.state()->send_at_once(to.id(), t.value, data, immediate);
}

unsigned pump::holding::look(unsigned passes) noexcept {
  const bool at_home = detail::driver::here() == &pump_.driver_;
  if (at_home) {
    pump_.patience_->looks.look_again();
    // Whoever has the message that is waited for may need this core.
    if (pump_.patience_->looks.waits.crowded()) passes = 1;
  }
  const unsigned ended = pump_.core_.engine().look(passes);
  if (at_home && (ended != 0 || pump_.core_.engine().moved())) pump_.patience_->looks.reset();
  return ended;
}

void pump::looked_in_vain(unsigned passes) noexcept {
  const call here(*this);
  if (detail::driver::here() != &driver_)
    ::sched_yield();
  else if (core_.engine().looked_in_vain(patience_->looks, passes) == advice::sleep &&
           !patience_->looks.others_run)
    ::sched_yield();
}

bool pump::wait(steady_clock::time_point until, bool (*over)(void*), void* argument) {
  runtime::engine& engine = core_.engine();
  runtime::engine::vain_looks vain(engine);
  const auto too_late = [until] {
    return until != steady_clock::time_point::max() && steady_clock::now() >= until;
  };
  for (unsigned busy = 0;;) {
    bool moved = false;
    {
      holding hold(*this);
      if (over(argument)) return true;
      const unsigned ended = hold.look();
      if (ended != 0 && over(argument)) return true;
      moved = ended != 0 || engine.moved();
    }
    const call here(*this);
    if (moved) {
      vain.reset();
      if (++busy % looks_between_clocks == 0 && too_late()) return false;
      continue;
    }
    const advice next = engine.looked_in_vain(vain);
    if (vain.count != 0) continue;
    if (too_late()) return false;
    if (next == advice::sleep) engine.sleep_until(until, over, argument);
  }
}

int pump::descriptor() const noexcept { return core_.engine().descriptor(); }

std::optional<steady_clock::time_point> pump::arm() noexcept {
  const call here(*this);
  return core_.engine().arm();
}

void hold_threads() noexcept { runtime::exit_gate::close_all(); }

}  // namespace weft
