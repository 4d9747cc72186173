// SPDX-License-Identifier: Apache-2.0
// Calls over every transport and in every mode. Both ends have handlers and call each other.
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "both_ends.hpp"
#include "one_thread.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;
using namespace std::chrono_literals;

namespace {

// --- values ------------------------------------------------------------------------------------

struct point {
  double x, y;
};

struct shape {
  std::string name;
  std::vector<point> corners;
  std::optional<int> weight;
};

template <bool Left>
task<void> values(context& here, endpoint other) {
  const std::uint32_t mine = numbers_of(Left), its = numbers_of(!Left);
  const std::string who = Left ? "left" : "right";
  std::vector<std::string> posted;
  const handler sum =
      here.on<double(std::span<const double>)>(am{mine}, [](std::span<const double> all) {
        double n = 0;
        for (const double d : all) n += d;
        return n;
      });
  const handler name = here.on<std::string(int, const std::string&, point)>(
      am{mine + 1}, [&](int n, const std::string& text, point p) -> task<std::string> {
        co_await sleep_for(1us);
        co_return who + std::to_string(n) + text + std::to_string(static_cast<int>(p.x + p.y));
      });
  const handler doubled =
      here.on<std::vector<int>(std::vector<int>)>(am{mine + 2}, [](std::vector<int> all) {
        for (int& n : all) n *= 2;
        return all;
      });
  const handler note = here.on<void(std::string)>(
      am{mine + 3}, [&](std::string s) { posted.push_back(std::move(s)); });
  const handler halves =
      here.on<std::tuple<std::string, int>(std::string_view)>(am{mine + 4}, [](std::string_view s) {
        return std::tuple(std::string(s.substr(s.size() / 2)), static_cast<int>(s.size()));
      });
  const handler next = here.on_inline<int(int)>(am{mine + 5}, [](int n) { return n + 1; });
  const handler turned = here.on<shape(shape)>(am{mine + 6}, [](shape s) {
    s.name += '!';
    s.weight.reset();
    return s;
  });
  co_await meet<Left>(other, ready);

  for (const std::size_t n : {0u, 3u, 1000u, 200'000u}) {
    const std::vector<double> ones(n, 1.0);
    const double got = co_await other.call<double>(am{its}, std::span(ones));
    expect(got == static_cast<double>(n), "a span among the arguments");
    std::vector<int> numbers(n, 4), eights(n, 8);
    const std::vector<int> twice = co_await other.call<std::vector<int>>(am{its + 2}, numbers);
    expect(twice == eights, "vectors there and back");
  }
  const std::string text =
      co_await other.call<std::string>(am{its + 1}, 5, std::string(300, 'a'), point{1, 2});
  expect(text == (Left ? "right5" : "left5") + std::string(300, 'a') + "3", "several arguments");
  co_await other.post(am{its + 3}, std::string("one"));
  co_await other.post(am{its + 3}, std::string(100'000, 'x'));
  const auto half =
      co_await other.call<std::tuple<std::string, int>>(am{its + 4}, std::string_view("abcdef"));
  expect(half == std::tuple(std::string("def"), 6), "a tuple as reply");
  for (int i = 0; i != 100; ++i) {
    const int one_more = co_await other.call<int>(am{its + 5}, i);
    expect(one_more == i + 1, "an inline handler");
  }

  const auto no_fit = co_await as_result(other.call<double>(am{its + 5}, 1));
  expect(no_fit.code() == errc::refused, "a reply of another size");
  expect(std::string(no_fit.failure().what())
                 .find("takes (i32) -> i32, and the call has (i32) -> f64") != std::string::npos,
         "both signatures");
  const auto bad = co_await as_result(other.call<int>(am{its + 5}, 1.5));
  expect(bad.code() == errc::refused, "arguments of another type");
  expect(
      std::string(bad.failure().what()).find("takes (i32) -> i32, and the call has (f64) -> i32") !=
          std::string::npos,
      "both signatures of arguments");
  const auto for_text = co_await as_result(other.call<void>(am{its + 3}, 42, 3.5));
  expect(for_text.code() == errc::refused, "numbers to a handler of a text");
  expect(std::string(for_text.failure().what())
                 .find("takes [char] -> (), and the call has (i32,f64) -> ()") != std::string::npos,
         "both signatures of a coroutine's handler");
  co_await other.post(am{its + 3}, 42, 3.5);  // dropped
  const double raw = 1;
  int answer = 0;
  const auto no_types =
      co_await as_result(other.call(am{its + 5}, std::as_bytes(std::span(&raw, 1)),
                                    std::as_writable_bytes(std::span(&answer, 1))));
  expect(no_types.code() == errc::refused, "bytes of another size");
  expect(std::string(no_types.failure().what()).find("8 bytes came, and the types take 4") !=
             std::string::npos,
         "both sizes of bytes");
  const shape sent{"L", {{1, 2}, {3, 4}}, 5};
  const shape got = co_await other.call<shape>(am{its + 6}, sent);
  expect(got.name == "L!" && got.corners.size() == 2 && got.corners[1].y == 4 && !got.weight,
         "an aggregate there and back");
  const auto none = co_await as_result(other.call<int>(am{its + 50}, 1));
  expect(none.code() == errc::refused, "no handler");
  co_await meet<Left>(other, over);
  while (posted.size() != 2) co_await sleep_for(100us);
  expect(posted[0] == "one" && posted[1].size() == 100'000, "posts come in order");
}

// --- bytes of all sizes, many at once, on a thread of their own --------------------------------

task<void> echo_bytes(call c) {
  bytes body(c.size());
  co_await c.recv(body);
  co_await c.reply(body);
}

task<void> one_echo(endpoint other, std::uint32_t its, std::size_t size, std::uint64_t seed) {
  const bytes out = pattern(size, seed);
  bytes in(size);
  const std::size_t n = co_await other.call(am{its}, out, in);
  expect(n == size && in == out, "an echo");
}

template <bool Left>
task<void> many_bytes(context& here, endpoint other) {
  const std::uint32_t mine = numbers_of(Left), its = numbers_of(!Left);
  one_thread there;
  {
    const handler at_home = here.on(am{mine}, &echo_bytes);
    handler elsewhere = here.on(am{mine + 1}, &echo_bytes, {.where = &there});
    co_await meet<Left>(other, ready);
    scope fly;
    std::uint64_t seed = 0;
    for (const std::size_t size : {0u, 1u, 100u, 8192u, 8193u, 60'000u, 70'000u, 1'500'000u})
      for (const std::uint32_t which : {0u, 1u})
        for (int i = 0; i != 2; ++i) fly.start(one_echo(other, its + which, size, ++seed));
    co_await fly.join();
    co_await meet<Left>(other, over);
    co_await elsewhere.end();
  }
}
task<void> many_bytes_left(context& here, endpoint other) { return many_bytes<true>(here, other); }
task<void> many_bytes_elsewhere(context& here, endpoint other) {
  return elsewhere(&many_bytes<false>, here, other);
}

// --- deadlines and stops -----------------------------------------------------------------------

task<void> never(call c) {
  std::byte word{};
  co_await c.from().recv(mutable_buffer(&word, 1), tag{99});
}

template <bool Left>
task<void> deadlines(context& here, endpoint other) {
  const std::uint32_t mine = numbers_of(Left), its = numbers_of(!Left);
  int stopped = 0;
  bool deadline = false;
  const handler waits = here.on(am{mine}, [&](call c) -> task<void> {
    deadline = deadline || c.deadline() != std::chrono::steady_clock::time_point::max();
    auto r = co_await as_result(never(c));
    if (c.stop_requested() && r.code() == errc::stopped) ++stopped;
    if (!r) throw error(r.failure());
  });
  co_await meet<Left>(other, ready);
  bytes in(8);
  const auto late = co_await as_result(within(10ms, other.call<void>(am{its})));
  expect(late.code() == errc::timed_out, "a deadline ends a call");
  const bytes large = pattern(300'000);
  const auto late_too = co_await as_result(within(10ms, other.call(am{its}, large, in)));
  expect(late_too.code() == errc::timed_out, "a deadline ends a call with a long argument");
  {
    scope fly;
    fly.start(other.call<void>(am{its}));
    fly.start(other.call(am{its}, large, in));
    co_await sleep_for(1ms);
    fly.request_stop();
    co_await fly.join();
  }
  while (stopped != 4) co_await sleep_for(100us);
  expect(deadline, "the handler knows the deadline");
  co_await meet<Left>(other, over);
}

// --- order -------------------------------------------------------------------------------------

/// More bytes than the peer gives credit for, all at once: some posts wait, and those behind them
/// are small.
template <bool Left>
task<void> order_of_posts(context& here, endpoint other) {
  constexpr std::uint32_t count = 400;
  std::uint32_t heard = 0;
  bool in_order = true;
  const handler takes = here.on_inline(am{numbers_of(Left)}, [&](const inline_call& c) {
    std::uint32_t number = 0;
    std::memcpy(&number, c.data.data(), sizeof number);
    in_order = in_order && number == heard;
    ++heard;
  });
  co_await meet<Left>(other, ready);
  std::vector<std::vector<std::uint32_t>> all;
  for (std::uint32_t i = 0; i != count; ++i) all.emplace_back(i % 4 == 3 ? 2 : 2000, i);
  scope fly;
  for (const std::vector<std::uint32_t>& one : all)
    fly.start(other.post_bytes(am{numbers_of(!Left)}, std::as_bytes(std::span(one))));
  co_await fly.join();
  while (heard != count) co_await sleep_for(100us);
  expect(in_order, "an inline handler takes posts in their order");
  co_await meet<Left>(other, over);
}

// --- the peer leaves ---------------------------------------------------------------------------

task<void> calls_one_that_leaves(context&, endpoint other) {
  const auto r = co_await as_result(other.call<void>(am{100}));
  expect(r.code() == errc::closed, "a call ends with the connection");
}
task<void> leaves_in_a_call(context& here, endpoint other) {
  bool began = false;
  errc how = errc::ok;
  const handler h = here.on(am{100}, [&](call c) -> task<void> {
    began = true;
    const auto r = co_await as_result(sleep_for(1h));
    how = r.code();
    static_cast<void>(c);
  });
  while (!began) co_await sleep_for(100us);
  other.close();
  co_await other.closed();
  while (how == errc::ok) co_await sleep_for(100us);
  expect(how == errc::stopped, "the handler of a caller that has gone is stopped");
}

}  // namespace

CONFORMS("calls: values of all kinds, both ways", values<true>, values<false>)
CONFORMS("calls: bytes of all sizes, many at once", many_bytes_left, many_bytes_elsewhere)
CONFORMS("calls: posts to an inline handler keep their order", order_of_posts<true>,
         order_of_posts<false>)
CONFORMS("calls: deadlines and stops reach handlers", deadlines<true>, deadlines<false>)

TEST_CASE("conformance: calls: the peer leaves") {
  const setting how = every_setting();
  if (how.where == place::same_context) return;  // there the two ends are one endpoint
  CAPTURE(how);
  CHECK_NOTHROW(converse(how, &calls_one_that_leaves, &leaves_in_a_call));
}
