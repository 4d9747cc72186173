// SPDX-License-Identifier: Apache-2.0
// Calls within bounds: places for those that run, credit, answers that go first.
#include <algorithm>
#include <optional>

#include "calls_of_test.hpp"
#include "proto/select/select.hpp"

using namespace net;

/// A reply is a message: if it waited behind calls that wait for credit, and if the calls of both
/// sides used up all credit, no reply of either side would leave.
TEST_CASE("calls: two sides that have used up each other's credit answer each other's calls") {
  const std::uint32_t number = GENERATE(7u, 9u);  // no handler, and one
  const bool inline_too = GENERATE(false, true);
  nodes n(2, either_memory(),
          {.unexpected_budget = 64u << 10, .eager_limit = 64u << 10, .calls_at_once = 5});
  {
    std::vector<registered> handlers;
    for (const fake::node at : {0u, 1u})
      handlers.push_back(inline_too ? serve_inline(n[at], am{9}, &call_echo_inline)
                                    : serve(n[at], am{9}, &call_echo));
    std::vector<std::unique_ptr<call_of_test>> calls;
    n.links_allowed = false;
    for (int i = 0; i != 300; ++i)
      for (const fake::node from : {0u, 1u})
        calls.push_back(std::make_unique<call_of_test>(n[from], am{number}, 8, 8, 1 - from));
    n.links_allowed = true;
    n.settle();
    for (const auto& c : calls) CHECK(c->op.ended_with(number == 9 ? errc::ok : errc::refused));
    for (const auto& c : calls) c->op.cancel();
    n.settle();
  }
  CHECK(n.clean());
}

TEST_CASE("calls: only so many run at once, and peers take turns") {
  nodes n(3, {}, {.unexpected_budget = 64u << 20, .eager_limit = 64u << 10, .calls_at_once = 1});
  const bytes word(1);
  std::vector<weft::peer_id> order;
  std::size_t running = 0, most = 0;
  bool go = false;
  std::vector<std::unique_ptr<call_of_test>> calls;
  {
    const auto h = serve(n[0], am{7}, [&](weft::call c) -> task<void> {
      most = std::max(most, ++running);
      order.push_back(c.from().id());
      if (!go) co_await hear_caller(c, tag{5});
      --running;
    });
    for (int i = 0; i != 10; ++i)
      calls.push_back(std::make_unique<call_of_test>(n[1], am{7}, 8, 8));
    n.settle();
    for (int i = 0; i != 10; ++i)
      calls.push_back(std::make_unique<call_of_test>(n[2], am{7}, 8, 8));
    n.settle();
    CHECK(running == 1);
    go = true;
    n[1].send(0, word, tag{5});
    n.settle();
    for (const auto& c : calls) CHECK(c->op.ended_with(errc::ok));
    CHECK(most == 1);
    REQUIRE(order.size() == 20);
    CHECK(std::count(order.begin() + 1, order.begin() + 7, 2u) == 3);
  }
  CHECK(n.clean());
}

TEST_CASE("calls: no more than the credit is taken from a peer whose calls wait") {
  nodes n(2, {}, {.unexpected_budget = 64u << 10, .eager_limit = 64u << 10, .calls_at_once = 1});
  std::vector<std::unique_ptr<call_of_test>> calls;
  {
    const auto h = serve(n[0], am{7}, &call_that_waits);
    for (int i = 0; i != 300; ++i)
      calls.push_back(std::make_unique<call_of_test>(n[1], am{7}, 1000, 8));
    n.settle();
    CHECK(n[0].messages.snapshot().unexpected_bytes_peak <=
          (64u << 10) + weft::proto::smallest_grant * weft::proto::credit_unit);
    for (auto& c : calls) c->op.cancel();
    n.settle();
    for (const auto& c : calls) CHECK(c->op.ended_with(errc::stopped));
  }
  n.settle();
  CHECK(n.clean());
}
TEST_CASE("calls: an inline handler serves a small call also if its bytes have to wait") {
  // Messages of more than 64 bytes are announced, as those of a caller without credit are.
  nodes n(2, either_memory(), {.unexpected_budget = 256u << 10, .eager_limit = 64});
  const bool late = GENERATE(false, true);
  CAPTURE(late);
  {
    std::optional<call_of_test> early;
    const auto other = serve(n[0], am{1}, &call_echo);
    if (late) early.emplace(n[1], am{7}, 700, 700);
    const auto h = serve_inline(n[0], am{7}, &call_echo_inline);
    for (const std::size_t size : {0u, 100u, 5000u, 8192u}) {
      CAPTURE(size);
      call_of_test c(n[1], am{7}, size, size);
      n.settle();
      CHECK(c.op.ended_with(errc::ok));
      CHECK((c.in == c.out));
    }
    if (early) CHECK((early->in == early->out));
    call_of_test longer(n[1], am{7}, 8193, 8193);
    n.settle();
    CHECK(longer.op.ended_with(errc::refused));
  }
  CHECK(n.clean());
}
