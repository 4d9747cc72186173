// SPDX-License-Identifier: Apache-2.0
// Topics with peers that lie: each harms itself, and nothing waits for it.
#include <weft/topic.hpp>

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "api/core/core.hpp"
#include "api/topics/messages.hpp"
#include "support/catch.hpp"
#include "support/expect.hpp"

using namespace weft;
using namespace weft::detail;
using namespace std::chrono_literals;
using weft::tests::expect;

namespace {

constexpr tag topic_said{1};

using topic_part = std::function<task<void>(context&, endpoint)>;

options topic_alone() {
  options o = options::from_environment();
  o.standalone = true;
  return o;
}

/// Two contexts that are connected, with a thread each: so the parts `expect`.
void with_liar(const topic_part& honest, const topic_part& liar) {
  static int runs = 0;
  const std::string name =
      "unix://weft-topics-" + std::to_string(::getpid()) + "-" + std::to_string(++runs);
  const auto one = [&name](context& c, const topic_part& act, bool first) -> task<void> {
    const std::string a = name + "a", b = name + "b";
    endpoint other = co_await within(30s, c.meet(first ? a : b, first ? b : a, "topics"));
    co_await within(60s, act(c, other));
  };
  std::string failures;
  std::thread there([&] {
    context ctx(topic_alone());
    try {
      run(ctx, one(ctx, liar, false));
    } catch (const std::exception& e) {
      failures = e.what();
    }
  });
  context ctx(topic_alone());
  CHECK_NOTHROW(run(ctx, one(ctx, honest, true)));
  there.join();
  CHECK(failures == "");
}

subscribe_request asks_for(const std::string& topic, std::uint32_t number) {
  subscribe_request r;
  r.topic = topic;
  r.type = "i32";
  r.fingerprint = name_of_value<int>.fingerprint();
  r.number = number;
  r.policy = static_cast<std::uint8_t>(when_full::block);
  r.depth = 4;
  return r;
}

task<errc> code_of(typed_call_request<void> call) {
  const auto r = co_await as_result(std::move(call));
  co_return r.code();
}

task<void> await_no_subscriber(publisher<int>& out) {
  while (!out.info().subscribers.empty()) co_await sleep_for(100us);
}

}  // namespace

TEST_CASE("topics: requests that are not correct are refused") {
  const auto honest = [](context& c, endpoint other) -> task<void> {
    publisher<int> out(c, "numbers");
    co_await other.recv_value<int>(topic_said);
    expect(out.info().subscribers.empty(), "no one has subscribed");
  };
  const auto liar = [](context&, endpoint other) -> task<void> {
    std::vector<subscribe_request> wrong(6, asks_for("numbers", 1));
    wrong[0].topic.clear();
    wrong[1].topic = std::string(300, 'x');
    wrong[2].depth = 1;
    wrong[3].depth = 1'000'000;
    wrong[4].policy = 7;
    wrong[5].type = std::string(2000, 'y');
    for (const subscribe_request& r : wrong)
      expect(co_await code_of(other.call<void>(subscribe_call, r)) == errc::refused,
             "a wrong request");
    const std::string garbage = "no request";
    expect(co_await code_of(other.call<void>(subscribe_call, garbage)) == errc::refused, "garbage");
    expect(co_await code_of(other.call<void>(announce_call, garbage)) == errc::refused,
           "no announcement");
    const announce_request no_rank{"numbers", 3};
    expect(co_await code_of(other.call<void>(announce_call, no_rank)) == errc::refused, "no rank");
    co_await other.send_value(topic_said, 0);
  };
  with_liar(honest, liar);
}

TEST_CASE("topics: a subscriber that says what cannot be is dropped, and blocks no more") {
  const auto honest = [](context& c, endpoint other) -> task<void> {
    publisher<int> out(c, "numbers", {.history = 10});
    for (int i = 0; i != 3; ++i) co_await out.publish(i);
    for (int way = 0; way != 3; ++way) {
      while (out.info().subscribers.empty()) co_await sleep_for(100us);
      co_await other.send_value(topic_said, 0);
      for (int i = 0; i != 10; ++i) co_await out.publish(i);  // it blocks until it is dropped
      co_await await_no_subscriber(out);
      co_await other.send_value(topic_said, 0);
    }
  };
  const auto liar = [](context&, endpoint other) -> task<void> {
    const std::uint64_t too_many = 1000, none = 0;
    for (std::uint32_t way = 0; way != 3; ++way) {
      const subscribe_request r = asks_for("numbers", 7 + way);
      co_await other.call<void>(subscribe_call, r);
      co_await other.recv_value<int>(topic_said);
      if (way == 0) co_await send_word(other, 7, too_many);
      if (way == 1) co_await send_word(other, 8, none);
      const const_buffer three = std::as_bytes(std::span(&too_many, 1)).first(3);
      if (way == 2) co_await copy_to(other, tag_to_called(9), three, 0);
      co_await other.recv_value<int>(topic_said);
    }
  };
  with_liar(honest, liar);
}

TEST_CASE("topics: a publisher that sends what cannot be ends its subscription") {
  const auto honest = [](context& c, endpoint other) -> task<void> {
    co_await other.recv_value<int>(topic_said);
    for (int way = 0; way != 4; ++way) {
      subscriber<int> in(c, other, "numbers", {.policy = when_full::block, .depth = 4});
      errc how = errc::ok;
      while (how == errc::ok) {
        auto next = co_await as_result(in.next());
        how = next.code();
        if (next && !next.value()) break;
        if (way == 1) co_await sleep_for(5ms);
      }
      expect(how == (way == 3 ? errc::refused : errc::protocol_error), "how a subscription ends");
    }
    co_await other.send_value(topic_said, 0);
  };
  const auto liar = [](context& c, endpoint other) -> task<void> {
    std::uint32_t way = 0;
    const auto serve = [&](call k) -> task<void> {
      const auto r = co_await request_of<subscribe_request>(k);
      co_await k.reply(const_buffer{});
      const tag t = tag_to_caller(r.number);
      const int value = 5;
      const const_buffer bytes = std::as_bytes(std::span(&value, 1));
      switch (way++) {
        case 0:  // numbers out of order
          for (const std::uint64_t n : {5u, 4u}) co_await copy_to(other, t, bytes, n);
          break;
        case 1:  // more than the window
          for (std::uint64_t n = 1; n != 20; ++n) co_await copy_to(other, t, bytes, n);
          break;
        case 2:  // no int
          co_await copy_to(other, t, bytes.first(3), 1);
          break;
        default: {  // a reason that is too long
          const std::string why(5000, 'z');
          co_await copy_to(other, t, std::as_bytes(std::span(why)), values_refused);
        }
      }
    };
    const handler serves = core_of(c).add_handler(
        subscribe_call, std::make_unique<raw_code<decltype(serve)>>(serve), {});
    co_await other.send_value(topic_said, 0);
    co_await other.recv_value<int>(topic_said);
  };
  with_liar(honest, liar);
}

TEST_CASE("topics: a subscriber that a value is too long for leaves, and blocks no more") {
  const auto publishes = [](context& c, endpoint other) -> task<void> {
    publisher<std::string> out(c, "texts");
    while (out.info().subscribers.empty()) co_await sleep_for(100us);
    const std::string text(1000, 'x');
    for (int i = 0; i != 20; ++i) co_await out.publish(text);
    while (!out.info().subscribers.empty()) co_await sleep_for(100us);
    co_await other.send_value(topic_said, 0);
  };
  const auto takes = [](context& c, endpoint other) -> task<void> {
    subscriber<std::string> in(c, other, "texts",
                               {.policy = when_full::block, .depth = 4, .limit = {100}});
    for (int i = 0; i != 2; ++i) {
      const auto next = co_await as_result(in.next());
      expect(next.code() == errc::truncated, "a value is too long");
    }
    co_await other.recv_value<int>(topic_said);
    while (in.counts().publishers != 0) co_await sleep_for(100us);  // the subscription has ended
  };
  with_liar(publishes, takes);
}

TEST_CASE("topics: why a subscriber is refused comes whole, however short its values are") {
  const auto publishes = [](context& c, endpoint other) -> task<void> {
    publisher<std::string> out(c, "texts");
    co_await other.recv_value<int>(topic_said);
  };
  const auto takes = [](context& c, endpoint other) -> task<void> {
    subscriber<int> in(c, other, "texts", {.limit = {sizeof(int)}});
    const auto next = co_await as_result(in.next());
    expect(next.code() == errc::refused, "the types are not the same");
    co_await other.send_value(topic_said, 0);
  };
  with_liar(publishes, takes);
}

TEST_CASE("topics: a program without topics and handlers is asked, and its first handler awaited") {
  static constexpr am later{5};
  const auto honest = [](context& c, endpoint other) -> task<void> {
    co_await other.recv_value<int>(topic_said);
    const handler h = c.on<int()>(later, [] { return 7; });
    co_await other.recv_value<int>(topic_said);
  };
  const auto asks = [](context&, endpoint other) -> task<void> {
    scope fly;
    int answer = 0;
    fly.start(other.call<int>(later), [&](int got) { answer = got; });
    const auto first = co_await topics_of(other);  // behind a call that waits
    expect(first.empty(), "no topic");
    const auto second = co_await topics_of(other);
    expect(second.empty(), "no topic again");
    expect(answer == 0, "the call waits");
    co_await other.send_value(topic_said, 0);
    co_await fly.join();
    expect(answer == 7, "the call is answered");
    co_await other.send_value(topic_said, 0);
  };
  with_liar(honest, asks);
}

TEST_CASE("topics: names, numbers of handlers and options are checked") {
  context ctx(topic_alone());
  const auto fails = [](auto act) {
    try {
      act();
    } catch (const error& e) {
      return e.kind();
    }
    return errc::ok;
  };
  CHECK(fails([&] { publisher<int>(ctx, ""); }) == errc::invalid_argument);
  CHECK(fails([&] { subscriber<int>(ctx, "x", {.depth = 1}); }) == errc::invalid_argument);
  CHECK(fails([&] { subscriber<int>(ctx, endpoint(), "x"); }) == errc::invalid_argument);
  CHECK(fails([&] { const handler h = ctx.on<int()>(am{first_reserved_am}, [] { return 1; }); }) ==
        errc::invalid_argument);
  CHECK(std::string(to_string(when_full::block)) == "block");
}

TEST_CASE("topics: a deadline says what was waited for") {
  const auto says = [](const error& why, const std::string& text) {
    expect(why.kind() == errc::timed_out, "a deadline");
    expect(std::string(why.what()).find(text) != std::string::npos, text + ": " + why.what());
  };
  const auto honest = [says](context& c, endpoint other) -> task<void> {
    publisher<int> out(c, "numbers");
    while (out.info().subscribers.empty()) co_await sleep_for(100us);
    const int value = 5;
    auto full = co_await as_result(within(20ms, out.publish(value)));
    while (full) {
      auto next = co_await as_result(within(20ms, out.publish(value)));
      full = std::move(next);
    }
    says(full.failure(), "topic numbers: a subscriber with when_full::block takes no more");
    co_await other.send_value(topic_said, 0);
    co_await other.recv_value<int>(topic_said);
  };
  const auto asks = [says](context& c, endpoint other) -> task<void> {
    subscriber<int> nothing(c, other, "nombers");
    const auto none = co_await as_result(within(20ms, nothing.next()));
    says(none.failure(), "topic nombers: no value has come from 1 process");
    subscriber<int> in(c, other, "numbers", {.policy = when_full::block, .depth = 4});
    co_await other.recv_value<int>(topic_said);
    co_await in.next();
    for (bool more = true; more;) {
      const auto next = co_await as_result(within(20ms, in.next()));
      more = next.code() == errc::ok;
      if (!more) says(next.failure(), "topic numbers: no further value has come");
    }
    const auto slow = co_await as_result(within(20ms, other.call<void>(am{7})));
    says(slow.failure(), "no reply had come when the call was stopped");
    co_await other.send_value(topic_said, 0);
  };
  with_liar(honest, asks);
}

TEST_CASE("topics: a loop that only publishes ends at its deadline") {
  const auto publish_on = [](publisher<int>& out) -> task<void> {
    for (int i = 0;; ++i) co_await out.publish(i);
  };
  context ctx;
  publisher<int> out(ctx, "numbers");
  const auto end_of = [](task<void> endless) -> task<errc> {
    co_return (co_await as_result(within(1ms, std::move(endless)))).code();
  };
  CHECK(run(ctx, end_of(publish_on(out))) == errc::timed_out);
}
