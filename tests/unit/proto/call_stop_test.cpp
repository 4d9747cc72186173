// SPDX-License-Identifier: Apache-2.0
// Calls that are stopped, or lose a side, at any moment.
#include "calls_of_test.hpp"

using namespace net;

namespace {

/// Calls of all call_sizes to two handlers; at a moment they are stopped, or the called node is
/// lost, or the caller is. \return whether all had ended by then
bool calls_end_after(int steps, int how, fake::settings s) {
  CAPTURE(steps, how);
  nodes n(2, s, {.unexpected_budget = 256u << 10, .eager_limit = 64u << 10, .calls_at_once = 3});
  std::vector<std::unique_ptr<call_of_test>> calls;
  std::size_t began = 0, ended = 0;
  bool quiet = false;
  {
    const auto replies = serve(n[0], am{1}, &call_echo);
    const auto waits = serve(n[0], am{2}, [&](weft::call c) -> task<void> {
      ++began;
      const auto r = co_await weft::as_result(call_that_waits(c));
      ++ended;
      if (!r.has_value()) throw weft::error(r.failure());
    });
    const auto small = serve_inline(n[0], am{3}, &call_echo_inline);
    for (const std::size_t size : call_sizes)
      for (const std::uint32_t which : {1u, 2u, 3u})
        calls.push_back(std::make_unique<call_of_test>(n[1], am{which}, size, size));
    for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();
    if (how == 0)
      for (auto& c : calls) c->op.cancel();
    else
      n.world.kill(how == 1 ? 0 : 1);
    n.settle();
    for (const auto& c : calls) {
      if (how == 2) continue;  // nothing polls for them
      REQUIRE(c->op.ends == 1);
      const errc end = c->op.status;
      CHECK((end == errc::ok || end == errc::refused ||
             end == (how == 0 ? errc::stopped : errc::peer_lost)));
      if (end == errc::ok && c->op.take() != 0) CHECK((c->in == c->out));
    }
    if (how != 1) CHECK(ended == began);
    if (how == 0) {
      call_of_test again(n[1], am{1}, 8, 8);
      n.settle();
      CHECK(again.op.ended_with(errc::ok));
    }
    if (how == 1) n[0].end();
  }
  n.settle();
  if (how != 2) CHECK(n[1].clean());
  if (how != 1) CHECK(n[0].clean());
  if (how == 2) n[1].end();
  return quiet;
}

}  // namespace

TEST_CASE("calls: stopped at any moment, they end, their handlers too, and nothing is left") {
  const fake::settings s = either_memory();
  for (int steps = 0; !calls_end_after(steps, 0, s); steps += WEFT_TEST_SANITIZED ? 5 : 1) {
  }
}
TEST_CASE("calls: the called peer is lost at any moment") {
  const fake::settings s = either_memory();
  for (int steps = 0; !calls_end_after(steps, 1, s); steps += WEFT_TEST_SANITIZED ? 5 : 1) {
  }
}
TEST_CASE("calls: the caller is lost at any moment, and its handlers stop") {
  const fake::settings s = either_memory();
  for (int steps = 0; !calls_end_after(steps, 2, s); steps += WEFT_TEST_SANITIZED ? 5 : 1) {
  }
}

namespace {

/// Waits for a message of tag 5 from the caller. \return whether it came
task<bool> hears_caller(weft::call c) {
  const auto r = co_await weft::as_result(hear_caller(c, tag{5}));
  co_return r.has_value();
}

}  // namespace

TEST_CASE("calls: a stop does not reach a call that has its reply, and whose number is free") {
  // With one place the second call waits; without that, a call of several frames is still on its
  // way.
  const unsigned at_once = GENERATE(1u, 256u);
  const std::size_t size = at_once == 1 ? 8 : 60'000;
  for (int steps = at_once == 1 ? 1000 : 0; steps < 1001; steps += at_once == 1 ? 1 : 3) {
    nodes n(2, {},
            {.unexpected_budget = 64u << 20, .eager_limit = 64u << 10, .calls_at_once = at_once});
    CAPTURE(at_once, steps);
    std::size_t began = 0, first_heard = 0;
    bool quiet = false;
    {
      const auto h = serve(n[0], am{7}, [&](weft::call c) -> task<void> {
        const bool first = began++ == 0;
        if (first) co_await c.reply(const_buffer{});
        const bool heard = co_await hears_caller(c);
        if (first && heard) ++first_heard;
      });
      call_of_test a(n[1], am{7}, 8, 8);
      n.settle();
      REQUIRE(a.op.ended_with(errc::ok));  // and its handler goes on
      call_of_test b(n[1], am{7}, size, 8);
      for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();
      b.op.cancel();
      n.settle();
      CHECK(b.op.ended_with(errc::stopped));
      const bytes word(1);
      for (int i = 0; i != 2; ++i) n[1].send(0, word, tag{5});
      n.settle();
      CHECK(first_heard == 1);
    }
    if (quiet) break;
  }
}

/// A frame that stops a call waits for space in the link; meanwhile the reply comes, and a new call
/// has the number. The new call may not leave before that frame.
TEST_CASE("calls: a stop that waits for space does not reach the next call of that number") {
  fake::settings s;
  s.shortest_way = s.longest_way = fake::time{0};
  s.room = 2;
  s.frames_per_poll = 1;
  nodes n(2, s);
  const bytes word(1);
  {
    const auto h = serve(n[0], am{7}, [](weft::call c) -> task<void> {
      if (!co_await hears_caller(c)) throw weft::error(errc::stopped, "stopped");
      co_await c.reply(const_buffer{});
    });
    const auto echo = serve(n[0], am{8}, &call_echo);
    call_of_test first(n[1], am{8}, 8, 8);  // makes the links
    n.settle();
    call_of_test a(n[1], am{7}, 8, 8);
    n.settle();
    n[1].send(0, word, tag{5});  // node 0 replies
    n[1].send(0, word, tag{4});
    a.op.cancel();               // no room for its frame
    n[0].engine.poll_once();     // takes one frame, and replies
    n[1].send(0, word, tag{4});  // there is no room again
    n[1].engine.poll_once();     // takes the reply
    n[0].engine.poll_once();     // takes one frame
    call_of_test b(n[1], am{7}, 8, 8);
    n.settle();
    n[1].send(0, word, tag{5});
    n.settle();
    CHECK(b.op.ended_with(errc::ok));
    bytes into(1);
    for (int i = 0; i != 2; ++i) CHECK(n[0].recv(1, into, tag{4})->ended_with(errc::ok));
    n.settle();
  }
  CHECK(n.clean());
}
