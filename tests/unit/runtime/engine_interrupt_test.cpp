// SPDX-License-Identifier: Apache-2.0
// Mode `interrupt`: a waiting thread sleeps at once.
#include <atomic>

#include "chore.hpp"
#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace weft::runtime;

namespace {

/// Counts the polls before the last one that precedes a sleep; then ends the wait.
struct look_counter final : pollable {
  engine& of;
  operation& end;
  unsigned looks = 0;
  unsigned before_sleep = 0;

  look_counter(engine& e, operation& last) : of(e), end(last) {}
  unsigned poll() noexcept override {
    ++looks;
    return 0;
  }
  bool has_work() noexcept override {
    if (before_sleep == 0) {
      before_sleep = looks;
      of.end_unposted(end, errc::ok);
    }
    return true;
  }
  void wake_peer() noexcept override {}
};

}  // namespace

TEST_CASE("engine: in mode interrupt one empty poll comes before sleep") {
  std::atomic<bool> done = false;
  chore last([&] { done = true; });
  engine e(progress_mode::interrupt, {}, "epoll");
  look_counter counter(e, last);
  e.add(counter);
  e.start();
  e.run_until_done(done);
  CHECK(counter.before_sleep == 1);
}
