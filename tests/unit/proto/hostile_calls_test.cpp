// SPDX-License-Identifier: Apache-2.0
// Calls of a peer that announces what does not come, and does not read its answers.
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "calls_of_test.hpp"
#include "hostile_frame_sink.hpp"

using namespace net;
using weft::proto::call_kind;
using weft::proto::call_tag;
using weft::proto::frame_extension;
using weft::proto::frame_kind;
using weft::proto::header_of;

namespace {

/// Node 0, which serves calls, node 1, and node 2, which reads as many frames as it is told to.
struct called_by_villain : frame_sink_attack {
  explicit called_by_villain(unsigned at_once)
      : frame_sink_attack(
            {},
            {.unexpected_budget = 8u << 20, .eager_limit = 64u << 10, .calls_at_once = at_once}) {}
  ~called_by_villain() {
    {
      peer& v = villain();
      const engine::holder hold(n[0].engine);
      v.end({errc::peer_lost, "ended by the test"});
    }
    for (const auto& h : handlers_) {
      h->close();
      h->stop();
      h->wait();
    }
    n.settle();
    CHECK(n[0].clean());
  }

  template <class Code, class F>
  void serve(am number, F f) {
    handlers_.push_back(std::make_shared<weft::proto::call_handler>(
        number, std::make_unique<Code>(std::move(f)), nullptr));
    const engine::holder hold(n[0].engine);
    n[0].messages.calls().add(handlers_.back());
  }
  template <class F>
  void serve_bytes(am number, F f) {
    serve<weft::detail::raw_code<F>>(number, std::move(f));
  }

  /// Node 2 makes a call of 8 bytes.
  bool call(std::uint16_t id, am number) {
    frame_header h = head(frame_kind::eager, 8, weft::proto::eager_ends);
    h.tag = call_tag{call_kind::request, id, number.number}.packed();
    return frame(h, nullptr);
  }
  /// It announces one.
  bool announce(std::uint16_t id, am number, std::uint64_t size) {
    const frame_extension x{numbered(id, size), 0, 0};
    return frame(
        header_of(frame_kind::rts, call_tag{call_kind::request, id, number.number}.packed(), 0,
                  weft::proto::eager_ends | weft::transports::has_extension),
        &x);
  }

  using frame_header = weft::proto::frame_header;

 private:
  std::vector<std::shared_ptr<weft::proto::call_handler>> handlers_;
};

/// Node 1 calls node 0, which replies.
bool is_served(called_by_villain& a, am number) {
  call_of_test c(a.n[1], number, 0, 8);
  a.n.settle();
  const bool served = c.op.ended_with(errc::ok);
  c.op.cancel();
  a.n.settle();
  return served;
}

task<void> replies_at_once(weft::call c) { co_await c.reply(const_buffer{}); }

std::uint64_t resident_bytes() {
  std::ifstream f("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  f >> all >> resident;
  return resident * 4096;
}

}  // namespace

TEST_CASE("hostile: calls whose answers one peer does not read keep no other peer's waiting") {
  const unsigned at_once = GENERATE(2u, 3u, 256u);
  const std::uint32_t number = GENERATE(99u, 7u, 8u, 9u, 10u);
  CAPTURE(at_once, number);
  called_by_villain a(at_once);
  a.serve_bytes(am{7}, &replies_at_once);
  a.serve_bytes(am{8}, [](weft::call) -> task<void> { co_return; });
  a.serve_bytes(am{9}, [](weft::call) -> task<void> { throw std::runtime_error("no"); });
  const auto f = [](const weft::inline_call& c) { return c.room.size(); };
  a.serve<weft::detail::raw_inline_code<decltype(f)>>(am{10}, f);
  a.swallow(0);
  for (std::uint16_t id = 1; id <= 400; ++id) REQUIRE(a.call(id, am{number}));
  a.n.settle();
  CHECK(is_served(a, am{7}));
  CHECK(a.n[0].messages.calls().running() < at_once);
  CHECK(a.n[0].messages.calls().served() <= at_once + 64);
}

TEST_CASE("hostile: no peer gets all places, nor do two") {
  nodes n(4, {}, {.unexpected_budget = 64u << 20, .eager_limit = 64u << 10, .calls_at_once = 16});
  std::vector<std::size_t> running(4, 0);
  {
    const auto h = serve(n[0], am{7}, [&](weft::call c) -> task<void> {
      ++running[c.from().id()];
      co_await call_that_waits(c);
    });
    std::vector<std::unique_ptr<call_of_test>> calls;
    for (fake::node from = 1; from != 4; ++from) {
      for (int i = 0; i != 30; ++i)
        calls.push_back(std::make_unique<call_of_test>(n[from], am{7}, 0, 8));
      n.settle();
    }
    CHECK(running == std::vector<std::size_t>{0, 12, 3, 1});
    CHECK(n[0].messages.calls().running() == 16);
    for (auto& c : calls) c->op.cancel();
    n.settle();
  }
  n.settle();
  CHECK(n.clean());
}

TEST_CASE("hostile: what a caller says of the size of its arguments makes no memory resident") {
  constexpr std::uint64_t said = 512u << 20;
  called_by_villain a(256);
  std::size_t called = 0;
  const auto fixed = [&](int x) { return ++called, x; };
  const auto any = [&](const std::vector<int>& x) { return ++called, x.size(); };
  const auto both = [&](int x, std::string_view) { return ++called, x; };
  a.serve<weft::detail::typed_code<int(int), decltype(fixed)>>(am{1}, fixed);
  a.serve<weft::detail::typed_code<std::size_t(std::vector<int>), decltype(any)>>(am{2}, any);
  a.serve<weft::detail::typed_code<int(int, std::string_view), decltype(both)>>(am{3}, both);
  const std::uint64_t before = resident_bytes();
  for (std::uint16_t id = 1; id <= 6; ++id)
    REQUIRE(a.announce(id, am{(id - 1u) % 3 + 1}, said + id % 2 * 4));
  a.n.settle();
  CHECK(resident_bytes() < before + said);  // ASan notes an eighth of each
  CHECK(called == 0);
  CHECK(a.n[0].messages.snapshot().calls_refused == 2);  // by their size alone
}

TEST_CASE("hostile: an inline handler's arguments are out of the peer's reach") {
  called_by_villain a(256);
  const std::byte* seen = nullptr;
  const auto f = [&](const weft::inline_call& c) {
    CHECK(c.data.size() == 8);
    CHECK(std::equal(c.data.begin(), c.data.end(), a.junk.begin()));
    seen = c.data.data();
    return std::size_t{0};
  };
  a.serve<weft::detail::raw_inline_code<decltype(f)>>(am{1}, f);
  REQUIRE(a.call(1, am{1}));
  REQUIRE(seen != nullptr);
  const auto within_frame = [&](const std::byte* p) {
    return !std::less<>()(p, a.junk.data()) && std::less<>()(p, a.junk.data() + a.junk.size());
  };
  CHECK_FALSE(within_frame(seen));
}
