// SPDX-License-Identifier: Apache-2.0
// Topics between two programs, over every transport and in every mode.
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "conversation.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;
using namespace std::chrono_literals;

namespace {

constexpr tag topic_go{1};

task<void> say_topic_go(endpoint other) { co_await other.send(const_buffer{}, topic_go); }
task<void> await_topic_go(endpoint other) { co_await other.recv(mutable_buffer{}, topic_go); }

struct tick {
  std::uint64_t number;
  double price;
};

constexpr tick no_tick{0, 0};

task<void> publish_tick(publisher<tick>& to, std::uint64_t number) {
  const tick next{number, 0};
  co_await to.publish(next);
}

task<void> await_subscribers(publisher<tick>& of, std::size_t n) {
  while (of.info().subscribers.size() != n) co_await sleep_for(100us);
}

// --- all values, of every kind ------------------------------------------------------------------

std::vector<float> frame_of(std::size_t n) {
  std::vector<float> all(n);
  std::iota(all.begin(), all.end(), static_cast<float>(n));
  return all;
}
constexpr std::array<std::size_t, 6> frame_sizes{0, 1, 900, 5000, 40'000, 200'000};

task<void> publish_kinds(context& ctx, endpoint other) {
  publisher<tick> ticks(ctx, "ticks");
  publisher<std::vector<float>> frames(ctx, "frames");
  publisher<std::map<std::string, int>> tables(ctx, "tables");
  publisher<std::string> texts(ctx, "texts");
  co_await await_topic_go(other);  // they have subscribed, or will
  co_await await_subscribers(ticks, 1);
  while (frames.info().subscribers.empty() || tables.info().subscribers.empty() ||
         texts.info().subscribers.empty())
    co_await sleep_for(100us);
  for (std::uint64_t i = 1; i != 501; ++i) {
    const tick next{i, 0.5 * static_cast<double>(i)};
    expect(co_await ticks.publish(next) == i, "values are numbered");
  }
  for (int round = 0; round != 3; ++round)
    for (const std::size_t n : frame_sizes) {
      co_await frames.publish(frame_of(n));
      loan<float> in_place = ctx.make_loan<float>(n);
      std::iota(in_place.begin(), in_place.end(), static_cast<float>(n));
      co_await frames.publish_loan(std::move(in_place));
    }
  for (int i = 0; i != 20; ++i) {
    std::map<std::string, int> table;
    table["round"] = i;
    table[std::string(2000, 'x')] = 7;
    co_await tables.publish(table);
    const std::string text(static_cast<std::size_t>(i) * 700, 'y');
    co_await texts.publish(text);
  }
  for (int i = 0; i != 4; ++i) co_await say_topic_go(other);
  ticks.close();
  expect(co_await outcome(ticks.publish(no_tick)) == errc::closed && !ticks.try_publish(no_tick),
         "nothing is published behind the end");
  frames.close();
  tables.close();
  texts.close();
  co_await ticks.closed();
  co_await frames.closed();
  co_await tables.closed();
  co_await texts.closed();
}
task<void> take_ticks(subscriber<tick>& from) {
  std::uint64_t expected = 1;
  while (auto t = co_await from.next()) {
    expect((*t)->number == expected && t->value().price == 0.5 * static_cast<double>(expected),
           "a value of one size");
    expect(t->sequence() == expected && t->missed() == 0, "nothing is missed");
    ++expected;
  }
  expect(expected == 501, "all values come");
  expect(from.counts().received == 500 && from.counts().publishers == 0, "they are counted");
}
task<void> take_frames(subscriber<std::vector<float>>& from) {
  std::vector<sample<std::vector<float>>> kept;
  for (int round = 0; round != 3; ++round)
    for (const std::size_t n : frame_sizes)
      for (int twice = 0; twice != 2; ++twice) {
        auto f = co_await from.next();
        expect(f && f->copy() == frame_of(n), "elements");
        if (round == 1) kept.push_back(std::move(*f));
      }
  for (std::size_t i = 0; i != kept.size(); ++i)
    expect(kept[i].copy() == frame_of(frame_sizes[i / 2]), "a view is not changed");
  kept.clear();
  expect(!co_await from.next(), "the end");
}
task<void> take_tables(subscriber<std::map<std::string, int>>& from) {
  for (int i = 0; i != 20; ++i) {
    auto t = co_await from.next();
    expect(t && t->value().at("round") == i && t->value().size() == 2, "an object");
  }
  expect(!co_await from.next(), "the end");
}
task<void> take_texts(subscriber<std::string>& from) {
  for (int i = 0; i != 20; ++i) {
    auto t = co_await from.next();
    expect(t && t->value() == std::string(static_cast<std::size_t>(i) * 700, 'y'), "a text");
  }
  expect(!co_await from.next(), "the end");
}
task<void> subscribe_to_kinds(context& ctx, endpoint other) {
  const subscription_options all{.policy = when_full::block, .depth = 8};
  subscriber<tick> ticks(ctx, other, "ticks", all);
  subscriber<std::vector<float>> frames(ctx, other, "frames", all);
  subscriber<std::map<std::string, int>> tables(ctx, other, "tables", all);
  subscriber<std::string> texts(ctx, other, "texts", all);
  co_await say_topic_go(other);
  co_await when_all(take_ticks(ticks), take_frames(frames), take_tables(tables), take_texts(texts));
  for (int i = 0; i != 4; ++i) co_await await_topic_go(other);
}

// --- policies -----------------------------------------------------------------------------------

task<void> publish_too_many(context& ctx, endpoint other) {
  publisher<tick> out(ctx, "fast");
  co_await await_subscribers(out, 2);
  for (std::uint64_t i = 1; i != 101; ++i) co_await publish_tick(out, i);
  std::uint64_t dropped = 0;
  for (const subscriber_info& s : out.info().subscribers) {
    expect(s.depth == 8 && s.sent + s.waiting + s.dropped == 100, "each value has one fate");
    dropped += s.dropped;
  }
  expect(dropped >= 2 * 92, "two policies that drop");
  co_await say_topic_go(other);
  co_await await_topic_go(other);
  // With one that blocks the publisher waits for it alone.
  co_await await_subscribers(out, 3);
  std::uint64_t sent = 100;
  while (out.try_publish({sent + 1, 0})) ++sent;
  expect(sent == 108, "as many as the depth");
  expect(co_await outcome(within(1ms, out.publish(no_tick))) == errc::timed_out, "it waits");
  co_await say_topic_go(other);
  co_await publish_tick(out, 109);
  out.close();
  co_await out.closed();
}
task<void> subscribe_slowly(context& ctx, endpoint other) {
  subscriber<tick> newest(ctx, other, "fast", {.policy = when_full::drop_oldest, .depth = 8});
  subscriber<tick> oldest(ctx, other, "fast", {.policy = when_full::drop_newest, .depth = 8});
  co_await await_topic_go(other);
  std::uint64_t last = 0, missed = 0;
  while (last != 100) {
    auto t = co_await newest.next();
    expect(t && t->value().number == t->sequence(), "a value that was not dropped");
    expect(last == 0 ? t->missed() == 0 : t->sequence() == last + 1 + t->missed(), "gaps");
    last = t->sequence();
    missed += t->missed();
  }
  expect(newest.counts().missed == missed, "the last ones came");
  for (std::uint64_t i = 1; i != 9; ++i) {
    auto t = co_await oldest.next();
    expect(t && t->sequence() == i && t->missed() == 0, "the first ones came");
  }
  oldest.close();
  expect(!co_await oldest.next() && !oldest.try_next(), "nothing comes after close");
  newest.close();
  subscriber<tick> all(ctx, other, "fast", {.policy = when_full::block, .depth = 8});
  subscriber<tick> gone(ctx, other, "fast");
  subscriber<tick> third(ctx, other, "fast");
  co_await say_topic_go(other);
  co_await await_topic_go(other);
  for (std::uint64_t i = 101; i != 110; ++i) {
    auto t = co_await all.next();
    expect(t && t->sequence() == i && t->missed() == 0, "no value is missed");
  }
  expect(!co_await all.next(), "the end");
}

// --- history, ends, and what does not fit -------------------------------------------------------

task<void> publish_history(context& ctx, endpoint other) {
  publisher<tick> out(ctx, "late", {.history = 4, .may_be_blocked = false});
  for (std::uint64_t i = 1; i != 11; ++i) co_await publish_tick(out, i);
  errc twice = errc::ok;
  try {
    publisher<tick> another(ctx, "late");
  } catch (const error& e) {
    twice = e.kind();
  }
  expect(twice == errc::invalid_argument, "one publisher of a name");
  co_await say_topic_go(other);
  co_await await_topic_go(other);
  out.close();
  co_await out.closed();
  publisher<tick> again(ctx, "late");
  co_await await_subscribers(again, 1);
  co_await publish_tick(again, 77);
  again.close();
  co_await again.closed();
}
task<void> subscribe_late(context& ctx, endpoint other) {
  co_await await_topic_go(other);
  subscriber<tick> all(ctx, other, "late");
  subscriber<tick> two(ctx, other, "late", {.history = 2});
  for (std::uint64_t i = 7; i != 11; ++i) {
    auto t = co_await all.next();
    expect(t && t->sequence() == i && t->missed() == 0, "the last four");
  }
  auto nine = co_await two.next();
  expect(nine && nine->sequence() == 9, "the last two");
  subscriber<float> other_type(ctx, other, "late");
  const auto refused = co_await as_result(other_type.next());
  expect(refused.code() == errc::refused, "another type");
  const std::string why = refused.failure().what();
  expect(why.find("f32") != std::string::npos && why.find("{u64,f64}") != std::string::npos,
         "both types are named: " + why);
  expect(co_await outcome(other_type.next()) == errc::refused, "it stays");
  subscriber<tick> blocks(ctx, other, "late", {.policy = when_full::block});
  expect(co_await outcome(blocks.next()) == errc::refused, "it does not let itself be blocked");
  expect(co_await outcome(within(20ms, all.next())) == errc::timed_out, "there is no more");
  bool listed = false;
  for (const topic_info& t : co_await topics_of(other)) {
    if (t.name != "late") continue;
    listed =
        t.type == "{u64,f64}" && t.published == 10 && t.history == 4 && t.subscribers.size() == 2;
  }
  expect(listed, "the topic is listed");
  co_await say_topic_go(other);
  expect(!co_await all.next(), "the end");
  two.close();
  subscriber<tick> again(ctx, other, "late");
  auto t = co_await again.next();
  expect(t && t->value().number == 77 && t->sequence() == 1, "another publisher of the name");
  expect(!co_await again.next(), "its end");
  subscriber<tick> none;
  expect(co_await outcome(none.next()) == errc::invalid_argument, "no topic");
}

}  // namespace

CONFORMS("topics: values of every kind", publish_kinds, subscribe_to_kinds)
CONFORMS("topics: each subscriber has its policy", publish_too_many, subscribe_slowly)
CONFORMS("topics: history, types, and publishers that come again", publish_history, subscribe_late)
