// SPDX-License-Identifier: Apache-2.0
// Stopping receives, at every stage. Sends: cancel_send_test.cpp.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "net.hpp"

using namespace net;
using weft::any_tag;
using weft::probe_request;
using weft::detail::send_mode;
using weft::proto::frame_kind;
using weft::proto::one_frame;

TEST_CASE("cancel: before the start") {
  nodes n(2);
  bytes data = pattern(10);
  sending send(weft::send_request{&n[0].to(1), tag{1}, weft::const_buffer(data)});
  send.cancel();
  CHECK(send.go().ended_with(errc::stopped));
  receiving receive(
      weft::recv_request{&n[0].messages, nullptr, any_tag, weft::mutable_buffer(data)});
  receive.cancel();
  CHECK(receive.go().ended_with(errc::stopped));
  probing probe(probe_request{&n[0].messages, nullptr, any_tag});
  probe.cancel();
  CHECK(probe.go().ended_with(errc::stopped));
}

TEST_CASE("cancel: a receive after any number of steps ends at once and lets go of its buffer") {
  fake::settings s;
  s.memory = GENERATE(fake::memory::hidden, fake::memory::readable, fake::memory::refused_late);
  const auto mode = GENERATE(send_mode::standard, send_mode::synchronous);
  // A receiver that has not sent to the sender yet must make a link before it can answer.
  const bool linked = GENERATE(true, false);
  for (const std::size_t size : {0u, 44u, 60'000u, 400'000u}) {
    int steps = 0;
    for (bool quiet = false; !quiet; ++steps) {
      CAPTURE(size, steps, linked, static_cast<int>(mode));
      nodes n(2, s);
      const bytes out = pattern(size, 5);
      const bytes next = pattern(size, 6);
      const bytes mark(size, std::byte{0xee});
      const bytes greeting = pattern(1);
      bytes in(size), in_next(size), hello(1);
      if (linked) {
        auto there = n[0].recv(1, hello, tag{3});
        const auto greets = n[1].send(0, greeting, tag{3});
        n.settle();
        REQUIRE(there->ended_with(errc::ok));
      }
      auto receive = n[1].recv(0, in, tag{1});
      auto send = n[0].send(1, out, tag{1}, mode);
      for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();
      const bool matched = receive->message != nullptr;
      const bool loses = matched && size > one_frame;
      if (!receive->ended()) receive->cancel();
      n[1].engine.poll_once();  // the sender does nothing
      REQUIRE(receive->ends == 1);
      if (receive->status == errc::stopped) in = mark;
      const bool tells = receive->explain().find("lost") != std::string::npos;
      CHECK(tells == (loses && receive->status == errc::stopped));
      // In every case the next message arrives.
      auto after = n[0].send(1, next, tag{2}, mode);
      auto receive_next = n[1].recv(0, in_next, tag{2});
      n.settle();
      REQUIRE(after->ended_with(errc::ok));
      REQUIRE(receive_next->ended_with(errc::ok));
      CHECK((in_next == next));
      if (receive->status == errc::stopped) {
        CHECK((in == mark));
        bytes again(size);
        auto late = n[1].recv(0, again, tag{1});
        n.settle();
        // A receive that was stopped before it matched, or whose message one frame could carry,
        // left the message for the next receive; else it took the message.
        REQUIRE(late->ended() == !loses);
        CHECK(n[1].messages.snapshot().messages_dropped == (loses ? 1 : 0));
        if (late->ended()) {
          REQUIRE(late->status == errc::ok);
          CHECK((again == out));
        }
        late->cancel();
      } else {
        REQUIRE(receive->status == errc::ok);
        CHECK((in == out));
      }
      n.settle();
      CHECK(send->ended_with(errc::ok));
      CHECK(n.clean());
    }
  }
}

namespace {

/// Messages with their numbers as contents, of a sender that has no credit, in the order in which
/// receives got them. Receives are stopped at random moments.
struct stopped_at_random {
  stopped_at_random(nodes& where, tag_mask what, bool from_any, std::size_t count, std::size_t size)
      : n(where), wanted(what), any(from_any), expected(count), in(size) {}

  void step() {
    if (is_over()) return;
    if (!now || now->ended()) {
      if (now && now->status == errc::ok) got.push_back(number());
      if (is_over()) return;
      std::fill(in.begin(), in.end(), std::byte{0xee});
      now = any ? n[1].recv_any(in, wanted) : n[1].recv(0, in, wanted);
    } else if (n.world.chance(4) == 0) {
      now->cancel();
      ++stopped;
    }
  }
  bool is_over() const { return got.size() == expected; }
  std::uint64_t number() const {
    std::uint64_t value = 0;
    std::memcpy(&value, in.data(), sizeof value);
    return value;
  }

  nodes& n;
  const tag_mask wanted;
  const bool any;
  const std::size_t expected;
  bytes in;
  std::shared_ptr<receiving> now;
  std::vector<std::uint64_t> got;
  int stopped = 0;
};

}  // namespace

TEST_CASE(
    "cancel: no small message is lost, or comes out of order, whenever receives are stopped") {
  fake::settings s;
  s.seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  s.memory = GENERATE(fake::memory::hidden, fake::memory::readable, fake::memory::refused_late);
  s.places = GENERATE(false, true);
  const std::size_t size = GENERATE(8u, 5000u);
  // No credit but for headers; a budget for what comes back, or none.
  const std::size_t budget = GENERATE(4u << 10, 64u << 20);
  nodes n(2, s, {.unexpected_budget = budget, .eager_limit = 64u << 10, .fixed_credit = 3u << 10});
  constexpr std::uint64_t many = 120;
  // One receiver takes everything; or two of them take the messages with their own tags.
  const bool all_tags = GENERATE(true, false);
  std::vector<std::unique_ptr<stopped_at_random>> receivers;
  for (const std::uint64_t t : {std::uint64_t{0}, std::uint64_t{1}}) {
    if (all_tags && t == 1) break;
    receivers.push_back(std::make_unique<stopped_at_random>(
        n, all_tags ? any_tag : tag_mask(tag{t}), n.world.chance(2) == 0,
        all_tags ? many : many / 2, size));
  }
  std::vector<bytes> out(many, bytes(size));
  std::vector<std::shared_ptr<sending>> sends;
  for (std::uint64_t i = 0; i != many; ++i) {
    std::memcpy(out[i].data(), &i, sizeof i);
    sends.push_back(
        n[0].send(1, out[i], tag{i % 2},
                  n.world.chance(3) == 0 ? send_mode::synchronous : send_mode::standard));
  }
  for (int turns = 0; turns != 200'000; ++turns) {
    bool over = true;
    for (const auto& r : receivers) {
      r->step();
      over = over && r->is_over();
    }
    if (over) break;
    n.step();
  }
  n.settle();
  int stopped = 0;
  for (std::size_t r = 0; r != receivers.size(); ++r) {
    stopped += receivers[r]->stopped;
    REQUIRE(receivers[r]->got.size() == receivers[r]->expected);
    for (std::size_t i = 0; i != receivers[r]->got.size(); ++i)
      REQUIRE(receivers[r]->got[i] == (all_tags ? i : 2 * i + r));
  }
  CHECK(stopped != 0);
  for (const auto& op : sends) REQUIRE(op->ended_with(errc::ok));
  CHECK(n[1].messages.snapshot().messages_dropped == 0);
  CHECK(n[1].messages.snapshot().messages_received == many);
  CHECK(n.clean());
}

TEST_CASE("cancel: a small message whose place another receive may have taken is received") {
  nodes n(2, {}, {4u << 10, 64u << 10});
  const bytes out = pattern(100, 5);
  bytes in(100), in_later(100);
  for (int i = 0; i != 8; ++i) n[0].send(1, out, tag{9});  // the credit is used up
  n.settle();
  auto first = n[1].recv(0, in, tag{1});
  auto later = n[1].recv(0, in_later, tag{1});
  auto send = n[0].send(1, out, tag{1});
  for (int i = 0; i != 1000 && !first->message; ++i) n.step();
  REQUIRE(first->message);
  first->cancel();
  later->cancel();
  n.settle();
  CHECK(first->ended_with(errc::ok));
  CHECK((in == out));
  CHECK(later->ended_with(errc::stopped));
  CHECK(send->ended_with(errc::ok));
}

TEST_CASE("cancel: a small message whose follower was claimed is received") {
  nodes n(2, {}, {4u << 10, 64u << 10});
  const bytes out = pattern(100, 5), out_later = pattern(100, 6);
  bytes in(100);
  for (int i = 0; i != 8; ++i) n[0].send(1, out, tag{9});  // the credit is used up
  n.settle();
  auto receive = n[1].recv(0, in, tag{1});
  auto send = n[0].send(1, out, tag{1});
  auto send_later = n[0].send(1, out_later, tag{1});
  std::optional<weft::claimed_message> later;
  for (int i = 0; i != 1000 && !later; ++i) {
    n.step();
    later = n[1].messages.receives().try_claim(&n[1].to(0), tag{1});
  }
  REQUIRE(later);
  REQUIRE(receive->message);
  receive->cancel();
  n.settle();
  CHECK(receive->ended_with(errc::ok));
  CHECK((in == out));
  later.reset();
  n.settle();
  CHECK(send->ended_with(errc::ok));
  CHECK(send_later->ended_with(errc::ok));
}

TEST_CASE("cancel: a small message with a tag of a group is not dropped") {
  nodes n(2, {}, {4u << 10, 64u << 10});
  const bytes out = pattern(100, 5);
  bytes in(100);
  for (int i = 0; i != 8; ++i) n[0].send(1, out, tag{9});  // the credit is used up
  n.settle();
  const tag own{weft::proto::own_tag(7, 1)};
  auto receive = n[1].recv(0, in, own);
  auto send = n[0].send(1, out, own);
  for (int i = 0; i != 1000 && !receive->message; ++i) n.step();
  REQUIRE(receive->message);
  receive->cancel();
  n.settle();
  if (receive->ended_with(errc::stopped)) {
    auto next = n[1].recv(0, in, own);
    n.settle();
    CHECK(next->ended_with(errc::ok));
  } else {
    CHECK(receive->ended_with(errc::ok));
  }
  CHECK((in == out));
  CHECK(send->ended_with(errc::ok));
  CHECK(n[1].messages.snapshot().messages_dropped == 0);
}

TEST_CASE("cancel: messages with one tag stay in order, with several receives stopped at random") {
  fake::settings s;
  s.seed = GENERATE(range(1u, 31u));
  s.memory = GENERATE(fake::memory::hidden, fake::memory::readable);
  nodes n(2, s,
          {.unexpected_budget = 64u << 20, .eager_limit = 64u << 10, .fixed_credit = 3u << 10});
  constexpr std::uint64_t many = 60;
  std::vector<bytes> out(many, bytes(8));
  std::vector<std::shared_ptr<sending>> sends;
  for (std::uint64_t i = 0; i != many; ++i) {
    std::memcpy(out[i].data(), &i, sizeof i);
    sends.push_back(n[0].send(1, out[i], tag{i % 2}));
  }
  struct one {
    bytes in;
    std::shared_ptr<receiving> op;
  };
  std::vector<std::unique_ptr<one>> all;  // in order of posting
  std::size_t got = 0;
  for (int turns = 0; turns != 20'000 && got != many; ++turns) {
    if (n.world.chance(3) == 0) {
      all.push_back(std::make_unique<one>());
      all.back()->in.resize(8);
      const tag_mask wanted = n.world.chance(4) == 0 ? any_tag : tag_mask(tag{n.world.chance(2)});
      all.back()->op = n.world.chance(4) == 0 ? n[1].recv_any(all.back()->in, wanted)
                                              : n[1].recv(0, all.back()->in, wanted);
    }
    if (!all.empty() && n.world.chance(3) == 0) all[n.world.chance(all.size())]->op->cancel();
    n.step();
    got = static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [](const auto& r) { return r->op->ended_with(errc::ok); }));
  }
  for (const auto& r : all) r->op->cancel();
  n.settle();
  CHECK(got == many);
  CHECK(n[1].messages.snapshot().messages_dropped == 0);
  std::uint64_t next[2] = {0, 1};
  for (const auto& r : all) {
    if (!r->op->ended_with(errc::ok)) continue;
    std::uint64_t value = 0;
    std::memcpy(&value, r->in.data(), sizeof value);
    REQUIRE(value == next[value % 2]);
    next[value % 2] += 2;
  }
  for (const auto& op : sends) CHECK(op->ended_with(errc::ok));
}

TEST_CASE("cancel: many receives and sends at random, with numbers that are used again") {
  fake::settings s;
  s.seed = GENERATE(1u, 2u, 3u, 4u);
  s.memory = GENERATE(fake::memory::hidden, fake::memory::readable);
  nodes n(2, s);
  const bytes out = pattern(300'000);
  std::vector<bytes> in(300, bytes(out.size()));
  std::vector<std::shared_ptr<receiving>> receives;
  std::vector<std::shared_ptr<sending>> sends;
  for (bytes& one : in) {
    const bytes& what = out;
    sends.push_back(n[0].send(1, what, tag{1},
                              n.world.chance(2) ? send_mode::standard : send_mode::synchronous));
    receives.push_back(n[1].recv(0, one, tag{1}));
    for (auto steps = n.world.chance(60); steps != 0; --steps) n.step();
    if (n.world.chance(2)) receives[n.world.chance(receives.size())]->cancel();
    if (n.world.chance(4) == 0) sends[n.world.chance(sends.size())]->cancel();
  }
  n.settle();
  CHECK(n[0].to(1).now() == peer::state::open);
  for (const auto& receive : receives)
    if (!receive->ended()) receive->cancel();
  for (const auto& send : sends)
    if (!send->ended()) send->cancel();
  n.settle();
  for (const auto& receive : receives) REQUIRE(receive->ends == 1);
  for (const auto& send : sends) REQUIRE(send->ends == 1);
  for (std::size_t i = 0; i != in.size(); ++i)
    if (receives[i]->status == errc::ok) CHECK((in[i] == out));
  bytes rest(out.size());
  while (n[1].messages.receives().try_probe(nullptr, any_tag)) {
    auto receive = n[1].recv(0, rest, tag{1});
    n.settle();
    REQUIRE(receive->ended_with(errc::ok));
  }
  CHECK(n.clean());
}

TEST_CASE("cancel: one that waits for room is not for the next message with that number") {
  fake::settings s;
  s.shortest_way = s.longest_way = fake::time(0);
  s.room = 2;
  nodes n(2, s);
  const bytes small = pattern(10);
  bytes in(10), in_next(10);
  n[0].send(1, small, tag{2});
  n[1].send(0, small, tag{2});
  n.settle();
  auto receive = n[1].recv(0, in, tag{1});
  auto first = n[0].send(1, small, tag{1}, send_mode::synchronous);
  n[1].engine.poll_once();
  REQUIRE(receive->ended_with(errc::ok));
  // The answer is on its way when the link is full and a cancel comes.
  n[0].send(1, small, tag{2});
  n[0].send(1, small, tag{2});
  first->cancel();
  n[0].engine.poll_once();
  REQUIRE(first->ended_with(errc::ok));
  n[1].engine.poll_once();  // there is room again
  auto second = n[0].send(1, small, tag{3}, send_mode::synchronous);
  n.settle();
  auto receive_next = n[1].recv(0, in_next, tag{3});
  n.settle();
  CHECK(second->ended_with(errc::ok));
  CHECK(receive_next->ended_with(errc::ok));
}

TEST_CASE(
    "cancel: a message whose receiver needs no more of it was sent, also if that one leaves") {
  fake::settings s;
  s.room = 2;  // the sender waits for room in the middle of the message
  int heard = 0;
  for (int steps = 0; steps != 40; ++steps) {
    bool told = false;
    nodes n(2, s);
    n.world.watch = [&](fake::happening what, const fake::wire& on, const fake::wire::frame& f) {
      told = told || (what == fake::happening::delivered && on.to == 0 &&
                      f.header.kind == static_cast<std::uint8_t>(frame_kind::stop_data));
    };
    const bytes out = pattern(400'000);
    bytes in(out.size());
    auto receive = n[1].recv(0, in, tag{1});
    auto send = n[0].send(1, out, tag{1});
    for (int i = 0; i != 6; ++i) n.step();
    receive->cancel();
    for (int i = 0; i != steps; ++i) n.step();
    if (send->ended()) continue;
    peer& other = n[0].to(1);
    const bool told_in_time = told;
    {
      const engine::holder hold(n[0].engine);
      other.end({errc::closed, "it has left"});
    }
    n[0].engine.poll_once();
    REQUIRE(send->ended());
    CAPTURE(steps);
    CHECK(send->status == (told_in_time ? errc::ok : errc::closed));
    heard += told_in_time ? 1 : 0;
  }
  CHECK(heard != 0);
}
