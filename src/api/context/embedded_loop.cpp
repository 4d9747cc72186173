// SPDX-License-Identifier: Apache-2.0
#include <weft/embedded_loop.hpp>

#include "api/core/core.hpp"

namespace weft {

embedded_loop::embedded_loop(context& of, void (*wake)(void*) noexcept, void* argument)
    : core_(detail::core_of(of)) {
  core_.refuse_child();
  core_.engine().embedded().begin({wake, argument});
}

embedded_loop::~embedded_loop() {
  const bool in_a_turn = detail::run_loop::here() == &core_.engine();  // the process exits there
  if (!core_.engine().is_inherited() && !in_a_turn) core_.engine().embedded().end();
}

embedded_loop::outcome embedded_loop::turn(std::chrono::steady_clock::time_point until,
                                           bool others_wait) noexcept {
  using after = runtime::embedded_polling::next;
  outcome result;
  runtime::engine& engine = core_.engine();
  engine.go_on();
  switch (engine.embedded().turn(until, others_wait, result.deadline)) {
    case after::turn:
      result.is = next::turn;
      break;
    case after::sleep:
      result.is = next::sleep;
      break;
    case after::elsewhere:
      result.is = next::elsewhere;
      break;
  }
  return result;
}

int embedded_loop::descriptor() const noexcept { return core_.engine().embedded().descriptor(); }

}  // namespace weft
