// SPDX-License-Identifier: Apache-2.0
// Waiting by calls.
#include <catch2/catch.hpp>

#include <chrono>

#include <weft/pump.hpp>
#include <weft/weft.hpp>

using namespace weft;
using namespace std::chrono_literals;

TEST_CASE("pump: what another thread ends while a waiter makes ready to sleep, the waiter sees") {
  options alone;
  alone.progress = progress_mode::interrupt;  // one look, then sleep
  context ctx(alone);
  pump calls(ctx);
  // After the waiter's look another thread looked, which ended what is waited for. It saw nobody
  // asleep, so it rang nobody.
  struct waiter {
    int asked = 0;
  } it;
  const auto ended_after_the_look = [](void* w) { return ++static_cast<waiter*>(w)->asked > 1; };
  CHECK(calls.wait(std::chrono::steady_clock::now() + 5s, ended_after_the_look, &it));
  CHECK(ctx.snapshot().sleeps == 0);
}
