// SPDX-License-Identifier: Apache-2.0
// Timers that are due while their thread does not run.
#include <thread>

#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace weft::runtime;
using namespace std::chrono_literals;

namespace {

struct plain_timer final : detail::timer {
  plain_timer()
      : timer([](operation& op) noexcept { static_cast<plain_timer&>(op).ended = true; }) {}
  bool ended = false;
};

}  // namespace

TEST_CASE("engine: the progress thread sleeps on while a due timer waits for a sleeping caller") {
  engine e(progress_mode::dedicated, {}, "epoll");
  e.start();
  plain_timer due;
  due.when = e.now();
  e.external().begin();
  REQUIRE(e.external().arm());
  e.start(due);
  // The caller has announced its sleep, and does not run when its time has come.
  const std::uint64_t before = e.counters().sleeps;
  std::this_thread::sleep_for(200ms);
  CHECK(e.counters().sleeps - before < 100);
  for (bool ended = false; !ended; ended = due.ended) {
    const engine::holder hold(e);
    e.external().poll();
  }
  e.external().end();
  e.stop();
}
