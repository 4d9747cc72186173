// SPDX-License-Identifier: Apache-2.0
// What goes on while the application computes.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>

#include <weft/weft.hpp>

using namespace weft;
using namespace std::chrono_literals;

namespace {

task<void> sleep_on(pool& p, std::atomic<int>& stage) {
  co_await resume_on(p);
  stage = 1;
  co_await sleep_for(100ms);
  stage = 2;
}

/// Computes from before that timer is due until it has ended, or for ever so long.
task<void> compute(std::atomic<int>& stage, bool& seen) {
  while (stage == 0) co_await sleep_for(1ms);
  co_await sleep_for(10ms);
  const auto patience = std::chrono::steady_clock::now() + 20s;
  while (stage != 2 && std::chrono::steady_clock::now() < patience) {
  }
  seen = stage == 2;
}

}  // namespace

TEST_CASE("a timer of a chain on a pool ends while the application computes") {
  pool workers(1);
  context ctx;
  std::atomic<int> stage = 0;
  bool seen = false;
  spawn(ctx, sleep_on(workers, stage));
  run(ctx, compute(stage, seen));
  CHECK(seen);
}
