// SPDX-License-Identifier: Apache-2.0
// Messages of all sizes, before, after and in the middle of their receive.
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "net.hpp"

using namespace net;
using weft::any_tag;
using weft::recv_request;
using weft::send_request;
using weft::detail::send_mode;

namespace {

constexpr std::size_t limit = 64u << 10;  // eager_limit
constexpr std::array<std::size_t, 14> sizes{
    0,      1,         44,    45,        3 * 1024, 3 * 1024 + 1, 4096,
    40'001, limit - 1, limit, limit + 1, 200'000,  1'000'003,    5u << 20};

fake::memory some_memory() {
  return GENERATE(fake::memory::hidden, fake::memory::readable, fake::memory::refused_late);
}

}  // namespace

TEST_CASE("messages: every size, the receive before, amid or after") {
  fake::settings s;
  s.memory = some_memory();
  const auto mode = GENERATE(send_mode::standard, send_mode::synchronous);
  const int steps_before = GENERATE(-1, 0, 1, 7, 30, 1'000'000);  // -1: posted before the send
  s.announced_beyond = steps_before % 2 == 0 ? 0 : 3 * 1024;
  for (const std::size_t size : sizes) {
    CAPTURE(size, steps_before, static_cast<int>(s.memory), static_cast<int>(mode));
    nodes n(2, s);
    const bytes out = pattern(size, size);
    bytes in(size + 1);
    std::shared_ptr<receiving> receive;
    if (steps_before < 0) receive = n[1].recv(0, in, tag{3});
    auto send = n[0].send(1, out, tag{3}, mode);
    if (!receive) {
      for (int i = 0; i < steps_before && n.step(); ++i) {
      }
      if (mode == send_mode::synchronous) CHECK_FALSE(send->ended());
      receive = n[1].recv(0, in, tag{3});
    }
    n.settle();
    REQUIRE(send->ended_with(errc::ok));
    REQUIRE(receive->ended_with(errc::ok));
    CHECK(receive->got.size == size);
    CHECK(receive->got.source == 0);
    CHECK(receive->got.tag == tag{3});
    in.pop_back();
    CHECK((in == out));
    CHECK(n.clean());
  }
}

TEST_CASE("messages: a long one is announced where the link asks for it") {
  fake::settings s;
  s.announced_beyond = 3000;
  struct seen {
    std::uint8_t kind;
    std::uint32_t size;
    bool operator==(const seen&) const = default;
  };
  const auto first_two = [&](std::size_t size) {
    nodes n(2, s);
    std::vector<seen> frames;
    n.world.watch = [&](fake::happening what, const fake::wire& on, const fake::wire::frame& f) {
      if (what == fake::happening::posted && on.from == 0)
        frames.push_back({f.header.kind, f.header.size});
    };
    const bytes out = pattern(size);
    bytes in(size);
    auto receive = n[1].recv(0, in, tag{1});
    n[0].send(1, out, tag{1});
    n.settle();
    CHECK(receive->ended_with(errc::ok));
    CHECK((in == out));
    frames.resize(2);
    return frames;
  };
  const auto kind = [](weft::proto::frame_kind k) { return static_cast<std::uint8_t>(k); };
  using enum weft::proto::frame_kind;
  CHECK(first_two(3000).front() == seen{kind(eager), 3000});
  CHECK(first_two(3001) == std::vector<seen>{{kind(eager), 0}, {kind(more), 3001}});
  CHECK(first_two(limit + 1).front() == seen{kind(rts), 0});
  CHECK(first_two(limit + 1).back().kind == kind(more));
}

TEST_CASE("messages: the eager limit of a transport comes before that for all of them") {
  const auto first_kind = [](const std::string& transport, std::size_t size) {
    weft::proto::messenger_settings m{64u << 20, limit};
    m.eager_limits[transport] = 2 * limit;
    nodes n(2, {}, m);
    std::optional<std::uint8_t> first;
    n.world.watch = [&](fake::happening what, const fake::wire& on, const fake::wire::frame& f) {
      if (what == fake::happening::posted && on.from == 0 && !first) first = f.header.kind;
    };
    const bytes out = pattern(size);
    n[0].send(1, out, tag{1});
    n.settle();
    return weft::proto::frame_kind{first.value()};
  };
  using enum weft::proto::frame_kind;
  CHECK(first_kind("fake", 2 * limit) == eager);
  CHECK(first_kind("fake", 2 * limit + 1) == rts);
  CHECK(first_kind("another", limit) == eager);
  CHECK(first_kind("another", limit + 1) == rts);
}

TEST_CASE("messages: too long for the receive") {
  fake::settings s;
  s.memory = some_memory();
  const bool early = GENERATE(true, false);
  for (const std::size_t size : {std::size_t{1}, std::size_t{45}, std::size_t{5000}, limit,
                                 limit + 1, std::size_t{1'000'000}})
    for (const std::size_t room : {std::size_t{0}, size / 3, size - 1}) {
      CAPTURE(size, room, early);
      nodes n(2, s);
      const bytes out = pattern(size);
      bytes in(room);
      std::shared_ptr<receiving> receive;
      if (early) receive = n[1].recv(0, in, any_tag);
      auto send = n[0].send(1, out, tag{3});
      if (!early) {
        n.settle();
        receive = n[1].recv(0, in, any_tag);
      }
      n.settle();
      REQUIRE(send->ended_with(errc::ok));
      REQUIRE(receive->ended_with(errc::truncated));
      CHECK(receive->got.size == size);
      CHECK(std::equal(in.begin(), in.end(), out.begin()));
      CHECK_FALSE(receive->explain().empty());
      CHECK(n.clean());
    }
}

TEST_CASE("messages: gathered and scattered in odd pieces, some of them empty") {
  fake::settings s;
  s.memory = some_memory();
  s.seed = GENERATE(1u, 2u, 3u);
  std::mt19937 random(static_cast<unsigned>(s.seed));
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, std::size_t{5000}, limit, std::size_t{300'001}}) {
    nodes n(2, s);
    const bytes out = pattern(size, size + 1);
    bytes in(size);
    const auto cut = [&](auto whole) {
      std::vector<decltype(whole)> pieces;
      for (std::size_t at = 0; at != size;) {
        const std::size_t piece = std::min<std::size_t>(size - at, random() % (size / 4 + 2));
        pieces.push_back(whole.subspan(at, piece));
        at += piece;
      }
      pieces.push_back({});
      return pieces;
    };
    const auto from = cut(weft::const_buffer(out));
    const auto into = cut(weft::mutable_buffer(in));
    receiving receive(recv_request{&n[1].messages, &n[1].to(0), tag{1}, std::span(into)});
    if (s.seed % 2 == 0) receive.go();
    sending send(send_request{&n[0].to(1), tag{1}, std::span(from)});
    send.go();
    if (s.seed % 2 != 0) {
      n.settle();
      receive.go();
    }
    n.settle();
    REQUIRE(send.ended_with(errc::ok));
    REQUIRE(receive.ended_with(errc::ok));
    CHECK((in == out));
  }
}

TEST_CASE("messages: an impossible size is refused at once") {
  nodes n(2);
  const std::byte one{};
  const std::array<weft::const_buffer, 2> huge{weft::const_buffer(&one, weft::proto::max_message),
                                               weft::const_buffer(&one, 1)};
  sending send(send_request{&n[0].to(1), tag{1}, std::span<const weft::const_buffer>(huge)});
  send.go();
  CHECK(send.ended_with(errc::invalid_argument));
}

TEST_CASE("messages: random traffic among three nodes keeps order and contents") {
  fake::settings s;
  s.seed = GENERATE(11u, 12u, 13u, 14u, 15u, 16u);
  s.memory = s.seed % 3 == 0 ? fake::memory::readable : fake::memory::hidden;
  s.room = s.seed % 2 == 0 ? 3 : 32;
  s.announced_beyond = s.seed % 4 < 2 ? 1024 : 0;
  std::mt19937 random(static_cast<unsigned>(s.seed));
  nodes n(3, s);
  struct sent {
    bytes data;
    std::shared_ptr<sending> op;
  };
  struct wanted {
    bytes into;
    std::shared_ptr<receiving> op;
  };
  // Per direction and tag: what was sent, in order; receives of each node, in order of posting.
  std::map<std::tuple<fake::node, fake::node, std::uint64_t>, std::deque<sent>> messages;
  std::array<std::deque<wanted>, 3> receives;
  std::array<std::size_t, 3> open{};  // messages to a node that have no receive yet

  for (int i = 0; i < 600; ++i) {
    const auto below = [&](unsigned k) { return static_cast<fake::node>(random() % k); };
    const fake::node from = below(3);
    const fake::node to = (from + 1 + below(2)) % 3;
    const std::uint64_t t = random() % 3;
    const std::size_t size = random() % 20 == 0 ? random() % 300'000 : random() % 5000;
    auto& list = messages[{from, to, t}];
    sent& m = list.emplace_back(sent{pattern(size, from * 100 + t * 10 + list.size()), nullptr});
    m.op = n[from].send(to, m.data, tag{t},
                        random() % 4 == 0 ? send_mode::synchronous : send_mode::standard);
    ++open[to];
    const fake::node reader = below(3);
    for (auto count = random() % 3; count != 0 && open[reader] != 0; --count, --open[reader]) {
      wanted& w = receives[reader].emplace_back(wanted{bytes(300'000), nullptr});
      w.op = n[reader].recv_any(w.into, any_tag);
    }
    for (auto steps = random() % 4; steps != 0; --steps) n.step();
  }
  for (fake::node reader = 0; reader < 3; ++reader)
    for (; open[reader] != 0; --open[reader]) {
      wanted& w = receives[reader].emplace_back(wanted{bytes(300'000), nullptr});
      w.op = n[reader].recv_any(w.into, any_tag);
    }
  n.settle();
  for (fake::node reader = 0; reader < 3; ++reader)
    for (wanted& w : receives[reader]) {
      REQUIRE(w.op->ended_with(errc::ok));
      auto& list = messages[{w.op->got.source, reader, w.op->got.tag.value}];
      REQUIRE_FALSE(list.empty());
      w.into.resize(w.op->got.size);
      CHECK((w.into == list.front().data));
      CHECK(list.front().op->ended_with(errc::ok));
      list.pop_front();
    }
  for (const auto& [key, list] : messages) CHECK(list.empty());
  CHECK(n.clean());
}

TEST_CASE("messages: more of them under way than there are numbers") {
  nodes n(2, {}, {1u << 30, 0});  // eager_limit 0: every message needs a number
  constexpr std::size_t count = 66'000;
  const bytes out = pattern(1);
  std::vector<std::shared_ptr<sending>> sends;
  for (std::size_t i = 0; i < count; ++i) sends.push_back(n[0].send(1, out, tag{1}));
  n.settle();
  std::vector<std::shared_ptr<receiving>> receives;
  bytes in(1);
  for (std::size_t i = 0; i < count; ++i) receives.push_back(n[1].recv(0, in, tag{1}));
  n.settle();
  std::size_t well = 0;
  for (std::size_t i = 0; i < count; ++i)
    well += sends[i]->ended_with(errc::ok) && receives[i]->ended_with(errc::ok);
  CHECK(well == count);
  CHECK(n.clean());
}

TEST_CASE("messages: nobody overtakes those that wait while a new link is full of control frames") {
  fake::settings s;
  s.room = 1;
  nodes n(2, s);
  bytes nothing;
  n[1].send(0, nothing, tag{1});
  n.settle();  // there is a link from node 1, and none to it
  n.links_allowed = false;
  for (int i = 0; i < 3; ++i) {
    n[1].send(0, nothing, tag{2}, send_mode::synchronous);
    n[0].recv(1, nothing, tag{2});
  }
  const bytes first = pattern(1), second = pattern(2);
  n[0].send(1, first, tag{3});
  n.settle();
  n.links_allowed = true;
  n.step();  // the link is open, and the answers to the synchronous sends fill it
  n[0].send(1, second, tag{3});
  n.settle();
  bytes in(2);
  for (const std::size_t size : {1u, 2u}) {
    const auto op = n[1].recv(0, in, tag{3});
    n.settle();
    REQUIRE(op->ended_with(errc::ok));
    CHECK(op->got.size == size);
  }
}
