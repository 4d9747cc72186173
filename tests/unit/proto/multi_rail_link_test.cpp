// SPDX-License-Identifier: Apache-2.0
// Several links to one peer: order, shares, and links that die.
#include <algorithm>
#include <map>
#include <string>

#include "two_links.hpp"

using namespace net;
using namespace std::chrono_literals;
using weft::proto::frame_kind;

namespace {

fake::manner link_of(std::string_view name, fake::time shortest, fake::time longest) {
  fake::manner m;
  m.name = name;
  m.shortest_way = shortest;
  m.longest_way = longest;
  m.room = 4;
  return m;
}

/// A fast link first, then a slow one.
std::vector<fake::manner> uneven() {
  return {link_of("fast", 5us, 10us), link_of("slow", 50us, 100us)};
}

/// Counts the frames of each link, and checks that each fragment arrives at the other side once or
/// not at all.
struct traffic {
  explicit traffic(fake::world& w) {
    w.watch = [this](fake::happening what, const fake::wire& on, const fake::wire::frame& f) {
      if (what != fake::happening::posted) return;
      const std::string name(on.how.name);
      ++frames[name];
      if (f.header.kind == static_cast<std::uint8_t>(frame_kind::data))
        data_bytes[name] += f.header.size;
    };
  }
  std::map<std::string, std::uint64_t> frames, data_bytes;
};

/// Messages of all kinds, both ways; each is received once, whole, and in order.
struct conversation {
  static constexpr std::size_t rounds = 3;

  explicit conversation(two_nodes& nodes, bool receives_late = false) : n(nodes) {
    const std::size_t sizes[] = {0, 1, 44, 3000, 5000, 70'000, 300'000};
    std::uint64_t seed = 0;
    for (std::size_t i = 0; i != rounds; ++i)
      for (const std::size_t size : sizes) out.push_back(pattern(size, ++seed));
    in[0].assign(out.size(), bytes(300'000));
    in[1] = in[0];
    if (!receives_late) post();
    for (std::size_t i = 0; i != out.size(); ++i)
      for (fake::node side : {0u, 1u})
        sends.push_back(n[side].send(
            out[i], tag{i % 2},
            i % 3 ? weft::detail::send_mode::standard : weft::detail::send_mode::synchronous));
  }
  void post() {
    for (std::size_t i = 0; i != out.size(); ++i)
      for (fake::node side : {0u, 1u}) receives.push_back(n[side].recv(in[side][i], tag{i % 2}));
  }
  void check() {
    for (const auto& op : sends) {
      CAPTURE(op->size, op->ends, static_cast<int>(op->status), n[0].other->detail(),
              n[1].other->detail());
      REQUIRE(op->ended_with(errc::ok));
    }
    for (const auto& op : receives) REQUIRE(op->ended_with(errc::ok));
    for (auto& side : in)
      for (std::size_t i = 0; i != out.size(); ++i) {
        CAPTURE(i);
        side[i].resize(out[i].size());
        REQUIRE((side[i] == out[i]));
      }
    for (fake::node side : {0u, 1u}) {
      CHECK(n[side].clean());
      const weft::metrics m = n[side].messages.snapshot();
      CHECK(m.messages_received == out.size());
      CHECK(m.messages_sent == out.size());
      // All credit is accounted for: one side may send what the other has free.
      const auto mine = n[side].other->writer().credit_state(),
                 theirs = n[1 - side].other->writer().credit_state();
      CHECK(mine.credit + theirs.to_return == theirs.window);
      CHECK(theirs.in_use == 0);
    }
  }

  two_nodes& n;
  std::vector<bytes> out;
  std::array<std::vector<bytes>, 2> in;
  std::vector<std::shared_ptr<sending>> sends;
  std::vector<std::shared_ptr<receiving>> receives;
};

}  // namespace

TEST_CASE("several links: messages of all sizes arrive once, whole and in order over two links") {
  fake::settings s;
  s.seed = GENERATE(range(1u, WEFT_TEST_SANITIZED ? 2u : 6u));
  std::vector<fake::manner> links = uneven();
  links[0].holds = links[1].holds = GENERATE(false, true);
  links[0].places = GENERATE(false, true);
  const bool receives_late = GENERATE(false, true);
  two_nodes n(links, s, {64u << 20, GENERATE(0u, 4096u, 64u << 10)});
  traffic seen(n.world);
  conversation talk(n, receives_late);
  if (receives_late) {
    n.settle();
    talk.post();
  }
  n.settle();
  talk.check();
  CHECK(seen.data_bytes["fast"] > seen.data_bytes["slow"]);
  CHECK(seen.data_bytes["slow"] > 0);
}

TEST_CASE("several links: a limit keeps the data of longer messages off the link through memory") {
  fake::settings s;
  s.seed = GENERATE(range(1u, WEFT_TEST_SANITIZED ? 2u : 6u));
  std::vector<fake::manner> links = {link_of("memory", 5us, 10us), link_of("net", 5us, 10us)};
  links[0].views = true;
  links[0].holds = links[1].holds = GENERATE(false, true);
  const bool receives_late = GENERATE(false, true);
  weft::proto::messenger_settings limited{.unexpected_budget = 64u << 20, .eager_limit = 1024u};
  limited.shm_limit = GENERATE(std::size_t{100}, std::size_t{70'000}, std::size_t{1} << 20);
  two_nodes n(links, s, limited);
  traffic seen(n.world);
  conversation talk(n, receives_late);
  if (receives_late) {
    n.settle();
    talk.post();
  }
  n.settle();
  talk.check();
  CAPTURE(*limited.shm_limit);
  CHECK((seen.data_bytes["memory"] == 0) == (*limited.shm_limit < 3000));
  CHECK((seen.data_bytes["net"] == 0) == (*limited.shm_limit >= 300'000));
  // The eager beginnings go with the requests.
  if (*limited.shm_limit == 70'000) {
    CHECK(seen.data_bytes["memory"] <= 2 * 3 * (3000 + 5000 + 70'000));
    CHECK(seen.data_bytes["net"] <= 2 * 3 * 300'000);
    CHECK(seen.data_bytes["net"] >= 2 * 3 * (300'000 - 1024));
  }
}

TEST_CASE("several links: where the way of long messages ends, they go by the other") {
  std::vector<fake::manner> links = {link_of("memory", 5us, 10us), link_of("net", 5us, 10us)};
  links[0].views = true;
  weft::proto::messenger_settings limited{.unexpected_budget = 64u << 20, .eager_limit = 1024u};
  limited.shm_limit = GENERATE(std::size_t{2000}, std::size_t{1} << 20);
  two_nodes n(links, {}, limited);
  const std::string broken = *limited.shm_limit == 2000 ? "net" : "memory";
  conversation talk(n);
  bool cut = false;
  n.world.watch = [&](fake::happening what, const fake::wire& on, const fake::wire::frame& f) {
    if (cut || what != fake::happening::posted || on.how.name != broken ||
        f.header.kind != static_cast<std::uint8_t>(frame_kind::data))
      return;
    cut = true;
    n.world.at(1us, [&] { n.world.cut(0, 1, broken); });
  };
  n.settle();
  CHECK(cut);
  talk.check();
}

TEST_CASE("several links: small messages use the best link only") {
  two_nodes n(uneven());
  traffic seen(n.world);
  const bytes out = pattern(500);
  std::vector<bytes> in(300, bytes(500));
  for (bytes& b : in) n[1].recv(b, tag{1});
  for (std::size_t i = 0; i != in.size(); ++i) {
    n[0].send(out, tag{1});
    n.settle();
  }
  CHECK(std::count(in.begin(), in.end(), out) == 300);
  CHECK(seen.frames["fast"] > 300);
  CHECK(seen.frames["slow"] == 0);
}

TEST_CASE("several links: what is kept for links that could die is bounded") {
  two_nodes n(uneven());
  const bytes out = pattern(60);
  bytes in(60);
  for (int i = 0; i != 1000; ++i) {
    n[1].recv(in, tag{1});
    n[0].send(out, tag{1});
    n.settle();
  }
  const engine::holder hold(n[0].engine);
  CHECK(n[0].several->kept() <= 16);
}

TEST_CASE("several links: a large message is shared out as the links are measured to be fast") {
  const bytes out = pattern(4'000'000);
  bytes in(out.size());
  const auto time_over = [&](const std::vector<fake::manner>& links,
                             std::map<std::string, std::uint64_t>* shares = nullptr) {
    two_nodes n(links);
    traffic mine(n.world);
    auto receive = n[1].recv(in, tag{1});
    auto send = n[0].send(out, tag{1});
    n.settle();
    REQUIRE(receive->ended_with(errc::ok));
    REQUIRE(send->ended_with(errc::ok));
    REQUIRE((in == out));
    if (shares) *shares = mine.data_bytes;
    return std::chrono::duration<double>(n.world.elapsed()).count();
  };
  const fake::manner a = link_of("a", 20us, 20us), b = link_of("b", 20us, 20us);
  const double one = time_over({a}), two = time_over({a, b});
  CHECK(two < 0.6 * one);

  // Ten to one, and neither rate is configured: the slow link helps, and no message waits for it.
  std::map<std::string, std::uint64_t> shares;
  const fake::manner slow = link_of("slow", 200us, 200us);
  const double uneven_pair = time_over({a, slow}, &shares);
  CHECK(uneven_pair < 1.02 * one);
  CHECK(shares["slow"] > 0);
  CHECK(shares["a"] > 5 * shares["slow"]);
}

TEST_CASE("several links: a link that dies at any moment is survived, and nothing arrives twice") {
  const bool first = GENERATE(true, false);
  const bool late = GENERATE(false, true);
  fake::settings s;
  s.seed = GENERATE(1u, 2u, 3u);
  std::vector<fake::manner> links = uneven();
  links[0].holds = links[1].places = s.seed % 2 != 0;
  links[0].places = links[1].holds = s.seed % 2 == 0;
  std::uint64_t sent_again = 0;
  int steps = 0;
  // Enough steps for every kind of moment; a sanitizer makes each ten times slower.
  for (bool quiet = false; !quiet; steps += WEFT_TEST_SANITIZED ? 797 : 53) {
    CAPTURE(first, late, s.seed, steps);
    two_nodes n(links, s, {64u << 20, 16u << 10});
    conversation talk(n, late);
    for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();
    n.world.cut(0, 1, first ? "fast" : "slow");
    if (late) {
      n.settle();
      talk.post();
    }
    n.settle();
    talk.check();
    // The other link breaks, too: that is the end.
    bytes never(10);
    auto receive = n[0].recv(never, tag{99});
    n.world.cut(0, 1, first ? "slow" : "fast");
    n.settle();
    const bool connected = n[0].other->now() == peer::state::lost;
    CHECK((connected || steps == 0));
    if (connected) CHECK(receive->ended_with(errc::peer_lost));
    sent_again += n[0].messages.snapshot().frames_sent_again;
    n.settle();
  }
  CHECK(steps > 200);
  CHECK(sent_again > 0);
}

TEST_CASE("several links: a link that one end, or each by itself, finds dead is given up by both") {
  const auto [knows, both_do] =
      GENERATE(Catch::Generators::table<fake::node, bool>({{0u, false}, {1u, false}, {0u, true}}));
  const bool first = GENERATE(true, false);
  const bool holds = GENERATE(false, true);
  std::vector<fake::manner> links = uneven();
  for (fake::manner& m : links) m.holds = m.places = holds;
  fake::settings s;
  s.seed = GENERATE(1u, 2u, 3u);
  std::uint64_t again = 0;
  int steps = static_cast<int>(43 * s.seed);  // each seed tests other moments
  for (bool quiet = false; !quiet; steps += WEFT_TEST_SANITIZED ? 797 : 131) {
    CAPTURE(knows, both_do, first, holds, s.seed, steps);
    two_nodes n(links, s, {64u << 20, 16u << 10});
    conversation talk(n);
    for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();
    n.world.give_up(knows, 1 - knows, first ? "fast" : "slow");
    if (both_do) n.world.give_up(1 - knows, knows, first ? "fast" : "slow");
    n.settle();
    talk.check();
    const weft::metrics other = n[1 - knows].messages.snapshot();
    if (!quiet) CHECK(n[knows].messages.snapshot().links_lost == 1);
    if (!quiet) CHECK(other.links_lost == 1);
    again += other.frames_sent_again;
  }
  CHECK(steps > 200);
  CHECK(again > 0);
}

TEST_CASE("several links: who has only received tells, too, that a link is dead") {
  fake::settings s;
  for (s.seed = 1; s.seed != 30; ++s.seed) {
    CAPTURE(s.seed);
    two_nodes n(uneven(), s);
    const bytes out = pattern(100);
    std::array<bytes, 3> in{bytes(100), bytes(100), bytes(100)};
    std::vector<std::shared_ptr<receiving>> receives;
    for (bytes& b : in) receives.push_back(n[1].recv(b, tag{1}));
    auto first = n[0].send(out, tag{1});
    while (!receives[0]->ended()) REQUIRE(n.step());
    n[0].send(out, tag{1});
    n[0].send(out, tag{1});
    n.world.give_up(1, 0, "fast");
    n.settle();
    for (const auto& r : receives) CHECK(r->ended_with(errc::ok));
    CHECK((in[2] == out));
    CHECK(n[0].messages.snapshot().links_lost == 1);
  }
}

TEST_CASE("several links: when each end gives up another link there is none left, and both know") {
  fake::settings s;
  s.seed = GENERATE(range(1u, 20u));
  two_nodes n(uneven(), s, {64u << 20, 16u << 10});
  conversation talk(n);
  const int steps = static_cast<int>(n.world.chance(600));
  for (int i = 0; i < steps; ++i) n.step();
  bytes never(10);
  std::array<std::shared_ptr<receiving>, 2> waiting;
  for (fake::node side : {0u, 1u}) waiting[side] = n[side].recv(never, tag{99});
  n.world.give_up(0, 1, "fast");
  n.world.give_up(1, 0, "slow");
  n.settle();
  // The wire-up messages of each went to a closed channel, which its own transport finds out in
  // time.
  n.world.give_up(0, 1, "slow");
  n.world.give_up(1, 0, "fast");
  n.settle();
  CAPTURE(steps);
  const bool met = n[0].several != nullptr;
  for (fake::node side : {0u, 1u})
    if (met) CHECK(waiting[side]->ended_with(errc::peer_lost));
}

TEST_CASE(
    "several links: what goes again is work that is left, also when no operation waits for it") {
  std::vector<fake::manner> links = uneven();
  links[0].room = 16;
  links[1].room = 2;
  two_nodes n(links);
  const bytes out = pattern(100);
  std::array<bytes, 6> in;
  std::vector<std::shared_ptr<receiving>> receives;
  for (bytes& b : in) receives.push_back(n[1].recv(b = bytes(100), tag{1}));
  std::vector<std::shared_ptr<sending>> sends;
  sends.push_back(n[0].send(out, tag{1}));
  while (!receives[0]->ended()) REQUIRE(n.step());
  n.settle();
  while (sends.size() != in.size()) sends.push_back(n[0].send(out, tag{1}));
  for (const auto& op : sends) CHECK(op->ended_with(errc::ok));
  CHECK_FALSE(n[0].messages.unsent());
  n.world.give_up(0, 1, "fast");
  n[0].engine.poll_once();
  CHECK(n[0].engine.outstanding() == 0);
  CHECK(n[0].messages.unsent());
  n.settle();
  for (const auto& r : receives) CHECK(r->ended_with(errc::ok));
  CHECK((in.back() == out));
  for (fake::node side : {0u, 1u}) CHECK_FALSE(n[side].messages.unsent());
}

TEST_CASE("several links: one that ends while it owes leaves no work behind") {
  two_nodes n(uneven());
  many_linked& one = n[0];
  {
    const engine::holder hold(one.engine);
    one.links().frame_sink(0).on_broken(errc::peer_lost);
  }
  CHECK(one.messages.unsent());
  CHECK(one.messages.upkeep().busy);
  {
    const engine::holder hold(one.engine);
    one.waiting.reset();
    one.other->drop_link();
  }
  CHECK_FALSE(one.messages.unsent());
  CHECK_FALSE(one.messages.upkeep().busy);
}

TEST_CASE("several links: three links, of which two die one after the other") {
  fake::settings s;
  for (s.seed = 1; s.seed != 60; ++s.seed) {
    CAPTURE(s.seed);
    std::vector<fake::manner> links = uneven();
    links.push_back(link_of("third", 10us, 30us));
    two_nodes n(links, s, {1u << 20, 16u << 10});
    conversation talk(n);
    n.world.at(std::chrono::microseconds(n.world.chance(3000)), [&] { n.world.cut(0, 1, "fast"); });
    n.world.at(std::chrono::microseconds(n.world.chance(3000)),
               [&] { n.world.cut(0, 1, "third"); });
    n.settle();
    talk.check();
  }
}

TEST_CASE("several links: receives and sends that stop while a link dies harm nobody") {
  fake::settings s;
  const bytes large = pattern(400'000), small = pattern(40);
  for (s.seed = 1; s.seed != 200; ++s.seed) {
    CAPTURE(s.seed);
    two_nodes n(uneven(), s);
    bytes in(large.size()), other(large.size()), last(40);
    auto stopped = n[1].recv(in, tag{1});
    auto kept = n[1].recv(other, tag{2});
    auto end = n[1].recv(last, tag{3});
    auto one = n[0].send(large, tag{1});
    auto two = n[0].send(large, tag{2});
    auto three = n[0].send(small, tag{3});
    const auto some_time = [&] { return std::chrono::microseconds(n.world.chance(3000)); };
    n.world.at(some_time(), [&] { stopped->cancel(); });
    n.world.at(some_time(), [&] { n.world.cut(0, 1, n.world.chance(2) ? "fast" : "slow"); });
    if (s.seed % 3 == 0) n.world.at(some_time(), [&] { one->cancel(); });
    n.settle();
    CHECK(stopped->ends == 1);
    if (!stopped->ended() || (stopped->status == errc::stopped && one->ends == 0)) {
      // Stopped before the message matched it: then the message waits for another receive.
      auto again = n[1].recv(in, tag{1});
      n.settle();
      CHECK(again->ends == 1);
    }
    CHECK(one->ends == 1);
    CHECK(kept->ended_with(errc::ok));
    CHECK((other == large));
    CHECK(two->ended_with(errc::ok));
    CHECK(three->ended_with(errc::ok));
    CHECK(end->ended_with(errc::ok));
    CHECK((last == small));
  }
}

TEST_CASE(
    "several links: frames that waited for an earlier one are taken bit by bit, and all of them") {
  using weft::proto::frame_header;
  using weft::proto::header_of;
  two_nodes n(uneven());
  const bytes hello = pattern(10);
  bytes in(10);
  auto receive = n[1].recv(in, tag{1});
  n[0].send(hello, tag{1});
  bytes back(10);
  auto answer = n[0].recv(back, tag{1});
  n[1].send(hello, tag{1});  // so that node 1 has links to node 0
  n.settle();
  REQUIRE(receive->ended_with(errc::ok));
  REQUIRE(answer->ended_with(errc::ok));
  constexpr std::int64_t count = 1000;
  const auto credit = [&] {
    const engine::holder hold(n[1].engine);
    return n[1].other->writer().credit_state().credit;
  };
  const auto before = credit();
  const auto hears = [&](std::uint64_t number) {
    bytes block(sizeof(frame_header));
    frame_header inner = header_of(frame_kind::credit);
    inner.credit = 1;
    std::memcpy(block.data(), &inner, sizeof inner);
    const engine::holder hold(n[1].engine);
    return n[1].links().frame_sink(0).on_frame(
        header_of(frame_kind::ordered, number, static_cast<std::uint32_t>(block.size())), nullptr,
        block.data());
  };
  for (std::uint64_t i = 2; i <= count; ++i) REQUIRE(hears(i));
  CHECK(credit() == before);
  REQUIRE(hears(1));
  CHECK(credit() > before);
  CHECK(credit() < before + count / 2);
  const bool breaks = GENERATE(false, true);
  if (breaks) {
    const engine::holder hold(n[1].engine);
    for (const std::size_t rail : {0u, 1u})
      n[1].links().frame_sink(rail).on_broken(errc::peer_lost);
    CHECK(n[1].other->now() == peer::state::open);
  } else {
    REQUIRE(hears(1));          // the same number again
    REQUIRE(hears(count + 1));  // waits for its turn
  }
  n.settle();
  CHECK(credit() == before + count + (breaks ? 0 : 1));
  CHECK((n[1].other->now() == peer::state::lost) == breaks);
}

TEST_CASE("several links: what no correct peer sends ends the peer, and nothing else") {
  using weft::proto::frame_extension;
  using weft::proto::frame_header;
  using weft::proto::header_of;
  two_nodes n(uneven());
  bytes in(10);
  const bytes hello = pattern(10);
  auto receive = n[1].recv(in, tag{1});
  n[0].send(hello, tag{1});
  n.settle();
  REQUIRE(receive->ended_with(errc::ok));

  // An empty credit frame as a block, to use up numbers.
  bytes block(sizeof(frame_header));
  const frame_header inner = header_of(frame_kind::credit);
  std::memcpy(block.data(), &inner, sizeof inner);
  const auto hears = [&](const frame_header& h, const frame_extension* x, const bytes& data) {
    const engine::holder hold(n[1].engine);
    return n[1].links().frame_sink(0).on_frame(h, x, data.data());
  };
  const auto ordered = [](std::uint64_t number, std::size_t size) {
    return header_of(frame_kind::ordered, number, static_cast<std::uint32_t>(size));
  };
  frame_header data = header_of(frame_kind::data, 0, 10, weft::transports::has_extension);
  const frame_extension nobody{77, 0};
  SECTION("numbers that have been are nothing new") {
    CHECK(hears(ordered(0, block.size()), nullptr, block));
    CHECK(hears(ordered(0, 3), nullptr, bytes(3)));
  }
  SECTION("a block too short for a frame") { CHECK_FALSE(hears(ordered(1, 3), nullptr, bytes(3))); }
  SECTION("a block whose frame says another size") {
    block.push_back({});
    CHECK_FALSE(hears(ordered(1, block.size()), nullptr, block));
  }
  SECTION("a number far ahead") {
    CHECK_FALSE(hears(ordered(1'000'000, block.size()), nullptr, block));
    data.tag = 1'000'000;
    CHECK_FALSE(hears(data, &nobody, pattern(10)));
  }
  SECTION("a fragment of nothing") { CHECK_FALSE(hears(data, &nobody, pattern(10))); }
  SECTION("a frame that is not for several links") {
    CHECK_FALSE(hears(header_of(frame_kind::eager, 1, 10), nullptr, hello));
    CHECK_FALSE(hears(header_of(frame_kind::credit), nullptr, {}));
  }
  SECTION("an ordered frame inside another") {
    const frame_header nested = ordered(2, 0);
    std::memcpy(block.data(), &nested, sizeof nested);
    CHECK_FALSE(hears(ordered(1, block.size()), nullptr, block));
  }
  SECTION("more has arrived than was sent, or by a link that there is not") {
    multi_rail_link& b = *n[0].several;
    const engine::holder hold(n[0].engine);
    CHECK_FALSE(b.on_arrived(0, 1000));
    CHECK_FALSE(b.on_arrived(1, 1));
    CHECK_FALSE(b.on_arrived(2, 0));
    CHECK(b.on_arrived(0, 0));
    CHECK_FALSE(b.on_arrived(0, 1000, true));
  }
  SECTION("all links are given up, one after the other") {
    multi_rail_link& b = *n[0].several;
    {
      const engine::holder hold(n[0].engine);
      CHECK(b.on_arrived(0, 0, true));
      CHECK(b.on_arrived(0, 1000, true));
      CHECK(n[0].other->now() == peer::state::open);
      CHECK(b.on_arrived(1, 0, true));
    }
    CHECK(n[0].other->now() == peer::state::lost);
  }
  SECTION("an `arrived` with a third word of its own") {
    const frame_header arrived =
        header_of(frame_kind::arrived, 0, 0,
                  weft::transports::has_extension | weft::transports::has_immediate);
    const frame_extension x{0, 0, 2};
    block.resize(sizeof arrived + sizeof x);
    std::memcpy(block.data(), &arrived, sizeof arrived);
    std::memcpy(block.data() + sizeof arrived, &x, sizeof x);
    CHECK_FALSE(hears(ordered(1, block.size()), nullptr, block));
  }
}
