// SPDX-License-Identifier: Apache-2.0
#include "runtime/sleep/wait_strategy.hpp"

#include <sched.h>

#include <chrono>

namespace weft::runtime {

namespace {

using std::chrono::steady_clock;

void yield(wait_policy& tells, steady_clock::time_point now) noexcept {
  sched_yield();
  tells.on_yield(now, steady_clock::now());
}

}  // namespace

wait_strategy::advice wait_strategy::on_empty_polls(bool others_run) noexcept {
  const auto now = steady_clock::now();
  const wait_policy::advice next = policy_.on_empty_polls(now);
  if (next == wait_policy::advice::sleep) return advice::sleep;
  if (next == wait_policy::advice::yield && !others_run) yield(policy_, now);
  return advice::look_around;
}

bool wait_strategy::let_others_run() noexcept {
  const auto now = steady_clock::now();
  if (policy_.yields_are_dear(now)) return false;
  yield(policy_, now);
  return true;
}

}  // namespace weft::runtime
