// SPDX-License-Identifier: Apache-2.0
// Calls between messengers: replies, refusals, stops, losses, bounds. Node 1 calls node 0.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <weft/coro/as_result.hpp>

#include "net.hpp"
#include "proto/call_table.hpp"

using namespace net;
using weft::am;
using weft::const_buffer;
using weft::inline_call;
using weft::mutable_buffer;
using weft::task;
using weft::detail::call_code;
using weft::proto::call_handler;
using calling = tracked<weft::detail::raw_call_operation>;

namespace {

/// A handler of one side, as long as it lives.
class registered {
 public:
  registered(side& s, am number, std::unique_ptr<call_code> code)
      : h_(std::make_shared<call_handler>(number, std::move(code), nullptr)) {
    const engine::holder hold(s.engine);
    s.messages.calls().add(h_);
  }
  registered(registered&&) = default;
  ~registered() {
    if (!h_) return;
    h_->close();
    h_->stop();
    h_->wait();
  }

 private:
  std::shared_ptr<call_handler> h_;
};

template <class F>
registered serve(side& s, am number, F f) {
  return {s, number, std::make_unique<weft::detail::raw_code<F>>(std::move(f))};
}
template <class F>
registered serve_inline(side& s, am number, F f) {
  return {s, number, std::make_unique<weft::detail::raw_inline_code<F>>(std::move(f))};
}

/// A call with its memory.
struct call_of_test {
  call_of_test(side& from, am number, std::size_t size, std::size_t room, fake::node to = 0)
      : out(pattern(size)),
        in(room),
        op(weft::detail::raw_call_request{&from.to(to), number, const_buffer(out),
                                          mutable_buffer(in)}) {
    op.go();
  }
  bytes out;
  bytes in;
  calling op;
};

std::size_t call_echo_inline(const inline_call& c) {
  std::copy(c.data.begin(), c.data.end(), c.room.begin());
  return c.data.size();
}

/// Replies with the arguments.
task<void> call_echo(weft::call c) {
  bytes body(c.size());
  co_await c.recv(body);
  co_await c.reply(body);
}

/// Waits for a message of the caller that does not come.
task<void> call_that_waits(weft::call c) {
  std::byte word{};
  const weft::detail::peer_name from(c.from().state());
  co_await weft::detail::recv_request{nullptr, from, tag{99}, mutable_buffer(&word, 1)};
}

const std::vector<std::size_t> call_sizes{0, 8, 44, 5000, 8192, 60'000, 400'000};

fake::settings either_memory() {
  fake::settings s;
  s.memory = GENERATE(fake::memory::hidden, fake::memory::readable);
  return s;
}

}  // namespace

TEST_CASE("calls: an inline handler answers small calls, and nothing is left") {
  nodes n(2, either_memory());
  {
    const auto h = serve_inline(n[0], am{7}, &call_echo_inline);
    for (const std::size_t size : call_sizes) {
      CAPTURE(size);
      call_of_test c(n[1], am{7}, size, size);
      n.settle();
      if (size <= 8192) {
        CHECK(c.op.ended_with(errc::ok));
        CHECK(c.op.take() == size);
        CHECK((c.in == c.out));
      } else {
        CHECK(c.op.ended_with(errc::refused));
        CHECK(c.op.explain().find("at most 8192") != std::string::npos);
      }
    }
  }
  CHECK(n.clean());
}

TEST_CASE("calls: a handler's coroutine gets arguments of any size and replies with any size") {
  nodes n(2, either_memory());
  {
    const auto h = serve(n[0], am{7}, &call_echo);
    for (const std::size_t size : call_sizes) {
      CAPTURE(size);
      call_of_test c(n[1], am{7}, size, size);
      n.settle();
      CHECK(c.op.ended_with(errc::ok));
      CHECK((c.in == c.out));
    }
    call_of_test shorter(n[1], am{7}, 400'000, 100);
    n.settle();
    CHECK(shorter.op.ended_with(errc::truncated));
    CHECK(shorter.op.explain().find("400000") != std::string::npos);
    CHECK(n[0].messages.snapshot().calls_served == call_sizes.size() + 1);
  }
  CHECK(n.clean());
}

TEST_CASE("calls: an exception of the handler refuses the call with its text") {
  nodes n(2);
  const auto fails = serve(n[0], am{1}, [](weft::call) -> task<void> {
    throw std::runtime_error("the shop is shut");
    co_return;
  });
  const auto at_once = serve_inline(n[0], am{2}, [](const inline_call&) -> std::size_t {
    throw std::runtime_error("so is the kiosk");
  });
  call_of_test a(n[1], am{1}, 400'000, 8), b(n[1], am{2}, 8, 8);
  n.settle();
  CHECK(a.op.ended_with(errc::refused));
  CHECK(a.op.explain().find("handler 1 at rank 0: the shop is shut") != std::string::npos);
  CHECK(b.op.ended_with(errc::refused));
  CHECK(b.op.explain().find("so is the kiosk") != std::string::npos);
}

TEST_CASE("calls: a number without a handler is refused, and the text names those that there are") {
  const bytes word(8);
  nodes n(2);
  {
    const auto one = serve(n[0], am{9}, &call_echo);
    const auto other = serve(n[0], am{2}, &call_echo);
    call_of_test c(n[1], am{7}, 8, 8);
    const auto post = n[1].send(0, word, weft::detail::post_tag(am{7}));
    n.settle();
    CHECK(c.op.ended_with(errc::refused));
    CHECK(c.op.explain().find("there is no handler 7; registered are 2, 9") != std::string::npos);
    CHECK(post->ended_with(errc::ok));
    CHECK(n[0].messages.snapshot().posts_dropped == 1);
  }
  CHECK(n.clean());
}

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

TEST_CASE("calls: they wait for the first handler") {
  nodes n(2);
  call_of_test early(n[1], am{7}, 400'000, 400'000), other(n[1], am{8}, 8, 8);
  n.settle();
  CHECK_FALSE(early.op.ended());
  const auto h = serve(n[0], am{7}, &call_echo);
  const auto also = serve_inline(n[0], am{8}, &call_echo_inline);  // before the loop runs again
  n.settle();
  CHECK(early.op.ended_with(errc::ok));
  CHECK(other.op.ended_with(errc::ok));
  CHECK((other.in == other.out));
}

TEST_CASE("calls: a handler that gives no reply gives an empty one, and cannot give two") {
  nodes n(2);
  errc second = errc::ok;
  const auto none = serve(n[0], am{1}, [](weft::call) -> task<void> { co_return; });
  const auto two = serve(n[0], am{2}, [&](weft::call c) -> task<void> {
    co_await c.reply(c.data());
    const auto again = co_await weft::as_result(c.reply({}));
    second = again.code();
  });
  call_of_test a(n[1], am{1}, 8, 8), b(n[1], am{2}, 8, 8);
  n.settle();
  CHECK(a.op.ended_with(errc::ok));
  CHECK(a.op.take() == 0);
  CHECK(b.op.ended_with(errc::ok));
  CHECK((b.in == b.out));
  CHECK(second == errc::invalid_argument);
}

TEST_CASE("calls: posts are served in order, and need no reply") {
  nodes n(2);
  std::vector<std::size_t> got;
  std::vector<bytes> out;
  for (const std::size_t size : call_sizes) out.push_back(pattern(size));
  {
    const auto h = serve(n[0], am{7}, [&](weft::call c) -> task<void> {
      got.push_back(c.size());
      CHECK_FALSE(c.wants_reply());
      co_await c.reply(c.data());  // dropped
    });
    for (const bytes& data : out) n[1].send(0, data, weft::detail::post_tag(am{7}));
    n.settle();
  }
  CHECK(got == call_sizes);
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
      std::byte word{};
      if (!go) {
        const weft::detail::peer_name from(c.from().state());
        co_await weft::detail::recv_request{nullptr, from, tag{5}, mutable_buffer(&word, 1)};
      }
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
  std::byte word{};
  const weft::detail::peer_name from(c.from().state());
  const weft::detail::recv_request wanted{nullptr, from, tag{5}, mutable_buffer(&word, 1)};
  const auto r = co_await weft::as_result(wanted);
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

TEST_CASE("calls: a caller that leaves stops a handler whose reply has not begun to leave") {
  nodes n(2);
  errc end = errc::ok;
  const bytes word(1);
  const auto h = serve(n[0], am{7}, [&](weft::call c) -> task<void> {
    n.links_allowed = false;  // node 0 has none yet
    end = (co_await weft::as_result(c.reply(const_buffer(word)))).code();
  });
  call_of_test c(n[1], am{7}, 8, 8);
  n.settle();
  REQUIRE_FALSE(c.op.ended());
  c.op.cancel();
  n.settle();
  CHECK(c.op.ended_with(errc::stopped));
  CHECK(end == errc::stopped);
  n.links_allowed = true;
}

// --- what no correct peer sends ----------------------------------------------------------------

namespace {

using weft::proto::call_kind;
using weft::proto::call_tag;
using weft::proto::frame_extension;
using weft::proto::frame_kind;
using weft::proto::header_of;

struct lie {
  const char* what;
  std::uint64_t tag;
  std::uint64_t immediate = 0;
  std::uint32_t size = 8;
  bool long_one = false;  ///< an announcement of a payload
};

/// Sends node 0 one message. \return how node 2 has ended there
errc send_lie(const lie& l) {
  nodes n(3);
  const auto h = serve(n[0], am{7}, &call_echo);
  const auto link = n.raw_link(2, 0);
  const bytes junk(64);
  const const_buffer whole(junk);
  weft::transports::gather data(std::span<const const_buffer>(&whole, 1));
  weft::proto::frame_header f = header_of(
      l.long_one ? frame_kind::rts : frame_kind::eager, l.tag, l.size,
      static_cast<std::uint8_t>(weft::proto::eager_ends | weft::transports::has_extension |
                                (l.immediate != 0 ? weft::transports::has_immediate : 0)));
  const frame_extension x{l.long_one ? std::uint64_t{1} << 48 | 1'000'000 : l.size, 0, l.immediate};
  link->send(f, &x, data);
  n.settle();
  call_of_test other(n[1], am{7}, 400'000, 400'000);
  n.settle();
  CHECK(other.op.ended_with(errc::ok));
  return n[0].to(2).why();
}

}  // namespace

TEST_CASE("calls: a message that no correct peer sends ends its connection only") {
  const bool long_one = GENERATE(false, true);
  const std::uint64_t calls = weft::proto::call_tags;
  const std::vector<lie> lies{
      {"a reply to nothing", call_tag{call_kind::reply, 1, 0}.packed()},
      {"a reply with the number 65535", call_tag{call_kind::reply, 65535, 0}.packed()},
      {"a reply without a number", call_tag{call_kind::reply, 0, 0}.packed()},
      {"a reply with an unknown status", call_tag{call_kind::reply, 1, 3}.packed()},
      {"a reply with a word", call_tag{call_kind::reply, 1, 0}.packed(), 5},
      {"a value of no stream", call_tag{call_kind::item, 1, 0}.packed()},
      {"a value without a number", call_tag{call_kind::item, 0, 0}.packed()},
      {"a value with a word", call_tag{call_kind::item, 1, 0}.packed(), 5},
      {"a stream without a number", call_tag{call_kind::stream_request, 0, 7}.packed()},
      {"kind 6", calls | std::uint64_t{6} << 48 | std::uint64_t{1} << 32},
      {"a request without a number", call_tag{call_kind::request, 0, 7}.packed()},
      {"a post with a number", call_tag{call_kind::post, 3, 7}.packed()},
      {"a post with a deadline", call_tag{call_kind::post, 0, 7}.packed(), 9},
      {"kind 0", calls},
      {"kind 15", calls | std::uint64_t{15} << 48},
  };
  for (lie l : lies) {
    CAPTURE(l.what, long_one);
    l.long_one = long_one;
    CHECK(send_lie(l) == errc::protocol_error);
  }
}

TEST_CASE("calls: stops of calls that there are not do nothing, but number 0 is no call") {
  nodes n(2);
  const auto h = serve(n[0], am{7}, &call_echo);
  const auto stop = [&](std::uint64_t id) {
    peer& whom = n[1].to(0);
    const engine::holder hold(n[1].engine);
    whom.writer().send_control(frame_kind::call_stop, id);
  };
  for (const std::uint64_t id : {1u, 2u, 65535u}) stop(id);
  call_of_test c(n[1], am{7}, 400'000, 400'000);
  n.settle();
  CHECK(c.op.ended_with(errc::ok));
  SECTION("0") { stop(0); }
  SECTION("beyond all numbers") { stop(65536); }
  n.settle();
  CHECK(n[0].to(1).why() == errc::protocol_error);
}

TEST_CASE("calls: the deadline reaches the handler as time that is left, and stops it") {
  nodes n(2);
  weft::detail::time_point due{};
  bool stopped = false;
  const auto h = serve(n[0], am{7}, [&](weft::call c) -> task<void> {
    due = c.deadline();
    const auto r = co_await weft::as_result(call_that_waits(c));
    stopped = c.stop_requested();
    if (!r.has_value()) throw weft::error(r.failure());
  });
  bytes in(8);
  calling op(weft::detail::raw_call_request{&n[1].to(0), am{7}, {}, mutable_buffer(in)});
  weft::task_environment with_deadline;
  with_deadline.deadline = n.world.now() + std::chrono::milliseconds(5);
  op.heed_deadline(with_deadline);
  op.go();
  n.settle();
  CHECK(op.ended_with(errc::timed_out));
  CHECK(stopped);
  CHECK(due >= with_deadline.deadline);
  CHECK(due < with_deadline.deadline + std::chrono::milliseconds(1));
}

TEST_CASE("calls: a handler that ends takes no more calls, and stops those that run") {
  nodes n(2);
  std::optional<registered> h = serve(n[0], am{7}, [](weft::call c) { return call_that_waits(c); });
  call_of_test running(n[1], am{7}, 8, 8);
  n.settle();
  CHECK_FALSE(running.op.ended());
  h.reset();
  call_of_test late(n[1], am{7}, 8, 8);
  n.settle();
  CHECK(running.op.ended_with(errc::refused));
  CHECK(late.op.ended_with(errc::refused));
  CHECK(late.op.explain().find("registered are none now") != std::string::npos);
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

TEST_CASE("calls: a reply for which there is no memory at all is truncated, of any size") {
  nodes n(2, either_memory());
  {
    const auto h = serve(n[0], am{7}, &call_echo);
    for (const std::size_t size : call_sizes) {
      CAPTURE(size);
      call_of_test c(n[1], am{7}, size, 0);
      n.settle();
      CHECK(c.op.ended_with(size == 0 ? errc::ok : errc::truncated));
    }
  }
  CHECK(n.clean());
}
