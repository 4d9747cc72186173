// SPDX-License-Identifier: Apache-2.0
// The counters of two sides agree: what the one has sent or asked for, the other has received or
// served, whichever way it took.
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "conversation.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;
using namespace std::chrono_literals;

namespace counting {
namespace {

constexpr tag plain{1}, ready{2}, figures{3};
constexpr am echo{1}, echo_inline{2}, posted{3}, refused{4}, numbers{5};

/// Pairs of counters: what one side says of itself, and what the other side says of it.
struct account {
  std::array<std::uint64_t, 8> own;
  std::array<std::uint64_t, 8> of_the_other;
};

account account_of(const metrics& m) {
  return {
      {m.messages_sent, m.bytes_sent, m.calls_made, m.rma_started, m.streams_opened,
       m.stream_bytes_written, m.bytes_put, m.bytes_got},
      {m.messages_received + m.messages_dropped, m.bytes_received, m.calls_served + m.calls_refused,
       m.rma_served, m.streams_opened, m.stream_bytes_read, m.bytes_put, m.bytes_got}};
}

account difference(const account& a, const account& b) {
  account d = b;
  for (std::size_t i = 0; i != a.own.size(); ++i) {
    d.own[i] -= a.own[i];
    d.of_the_other[i] -= a.of_the_other[i];
  }
  return d;
}

task<void> meet(endpoint other, tag t) {
  scope both;
  both.start(other.send(const_buffer{}, t));
  both.start(other.recv(mutable_buffer{}, t));
  co_await both.join();
}

async_generator<int> count_to(int n) {
  for (int i = 0; i != n; ++i) co_yield i;
}

task<void> messages(endpoint other) {
  for (const std::size_t size : {0u, 8u, 500u, 5000u, 70'000u, 300'000u}) {
    const bytes out = pattern(size);
    bytes in(size);
    scope both;
    both.start(other.send(out, plain));
    both.start(other.send_synchronous(out, plain));
    for (int i = 0; i != 2; ++i) co_await other.recv(in, plain);
    co_await both.join();
  }
}

task<void> calls(endpoint other) {
  for (const std::size_t size : {0u, 5u, 500u, 5000u, 200'000u}) {
    const std::string text(size, 'x');
    for (int i = 0; i != 3; ++i)
      expect(co_await other.call<std::string>(echo, text) == text, "the call's reply");
    if (size <= 5000) expect(co_await other.call<std::string>(echo_inline, text) == text, "inline");
    co_await other.post(posted, text);
    expect(co_await outcome(other.call<void>(refused)) == errc::refused, "a call without handler");
  }
  async_generator<int> all = other.call_stream<int>(numbers, 20);
  for (int i = 0; i != 20; ++i) expect(*co_await all.next() == i, "a value of the stream");
  expect(!co_await all.next(), "the end of the values");
}

task<void> bytes_in_a_stream(endpoint other) {
  stream s(other, 3);
  const bytes out = pattern(100'000);
  scope halves;
  halves.start(s.write(out));
  bytes in(out.size());
  for (std::size_t n = 0; n != in.size();) n += co_await s.read(mutable_buffer(in).subspan(n));
  co_await halves.join();
  s.finish();
  expect(co_await s.read(mutable_buffer(in)) == 0, "the end");
  s.close();
  co_await s.closed();
}

template <bool Left>
task<void> talk(context& here, endpoint other) {
  semaphore posts(0);
  const handler h1 = here.on<std::string(std::string)>(echo, [](std::string s) { return s; });
  const handler h2 =
      here.on_inline<std::string(std::string)>(echo_inline, [](std::string s) { return s; });
  const handler h3 =
      here.on<void(std::string)>(posted, [&](const std::string&) { posts.release(); });
  const handler h4 = here.on<async_generator<int>(int)>(numbers, &count_to);
  co_await meet(other, ready);
  const account before = account_of(here.snapshot());
  co_await messages(other);
  co_await calls(other);
  co_await bytes_in_a_stream(other);
  for (int i = 0; i != 5; ++i) co_await posts.acquire();
  co_await meet(other, ready);

  account mine = difference(before, account_of(here.snapshot())), its{};
  mine.own[2] += 5;  // posts get no reply
  const std::array<std::uint64_t, 8> said = mine.own;
  scope both;
  both.start(other.send(std::as_bytes(std::span(said)), figures));
  both.start(other.recv(std::as_writable_bytes(std::span(its.own)), figures));
  co_await both.join();
  // The last messages of a stream, and of a call, may be taken in a little later.
  const auto late = std::chrono::steady_clock::now() + 30s;
  constexpr std::array<const char*, 6> names{"messages",     "bytes",   "calls",
                                             "rma accesses", "streams", "bytes in streams"};
  for (std::size_t i = 0; i != names.size(); ++i) {
    // What was exchanged since is one message of each side.
    const std::uint64_t since = i == 0 ? 1 : i == 1 ? sizeof said : 0;
    while (mine.of_the_other[i] < its.own[i] + since && std::chrono::steady_clock::now() < late) {
      co_await sleep_for(100us);
      mine = difference(before, account_of(here.snapshot()));
    }
    expect(mine.of_the_other[i] == its.own[i] + since,
           std::string(names[i]) + ": " + std::to_string(mine.of_the_other[i]) + " here, and " +
               std::to_string(its.own[i] + since) + " there");
  }
  co_await meet(other, ready);
}

}  // namespace
}  // namespace counting

TEST_CASE("conformance: metrics: both sides count the same") {
  const setting how = every_setting();
  if (how.where == place::same_context) return;  // there the two ends have one account
  CAPTURE(how);
  CHECK_NOTHROW(converse(how, &counting::talk<true>, &counting::talk<false>));
}
