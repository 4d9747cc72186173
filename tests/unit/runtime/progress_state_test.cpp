// SPDX-License-Identifier: Apache-2.0
// Which thread makes progress, as an engine reports it.
#include <atomic>
#include <string>
#include <utility>

#include "chore.hpp"
#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace weft::runtime;

namespace {

/// Records the state in each pass, and ends an operation in the first.
class observer final : public pollable {
 public:
  explicit observer(engine& e) noexcept : engine_(e) {}
  unsigned poll() noexcept override {
    seen = engine_.state();
    if (to_end) engine_.end(*std::exchange(to_end, nullptr));
    return 0;
  }
  bool has_work() noexcept override { return false; }

  progress_state seen = progress_state::idle;
  operation* to_end = nullptr;

 private:
  engine& engine_;
};

}  // namespace

TEST_CASE("progress state: idle, computing while something is pending, polling inside run()") {
  engine e(progress_mode::polling, {}, "epoll");
  observer sees(e);
  e.add(sees);
  CHECK(e.state() == progress_state::idle);
  std::atomic<bool> done{false};
  progress_state in_user_code{};
  chore pending([] {});
  chore first([&] {
    in_user_code = e.state();
    done = true;
  });
  {
    const engine::holder hold(e);
    e.pending(pending);
    CHECK(e.state() == progress_state::computing);
    e.pending(first);
    sees.to_end = &first;
  }
  e.run_until_done(done);
  CHECK(sees.seen == progress_state::polling);
  CHECK(in_user_code == progress_state::computing);
  {
    const engine::holder hold(e);
    e.withdraw(pending);
  }
}

TEST_CASE("progress state: asleep between arming and the next poll, by calls") {
  engine e(progress_mode::polling, {}, "epoll");
  e.external().begin();
  REQUIRE(e.external().arm());
  CHECK(e.state() == progress_state::asleep);
  {
    const engine::holder hold(e);
    e.external().poll();
    CHECK(e.state() == progress_state::idle);
  }
  e.external().end();
}

TEST_CASE("progress state: every state has a name of its own") {
  CHECK(std::string(name_of(progress_state::listening)) == "listening");
  CHECK(std::string(name_of(progress_state::asleep)) == "asleep");
}
