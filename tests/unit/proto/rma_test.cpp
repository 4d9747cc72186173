// SPDX-License-Identifier: Apache-2.0
// Access to the memory of peers, under virtual time: full links, stops, ends and deaths at any
// moment, and frames that no correct peer sends.
#include <cstring>

#include "net.hpp"
#include "proto/rma/rma.hpp"
#include "two_links.hpp"

using namespace net;
using weft::notify;
using weft::remote_region;
using weft::rendezvous_scheme;
using weft::rights;
using weft::detail::rma_kind;
using weft::detail::rma_request;
using weft::proto::access_asks;
using weft::proto::access_ends;
using weft::proto::frame_extension;
using weft::proto::frame_kind;
using weft::proto::header_of;
using weft::proto::messenger_settings;
using weft::proto::most_notifications;
using weft::proto::most_outstanding_rma;

namespace {

using transferring = tracked<weft::transfer_operation>;
using updating = tracked<weft::update_operation>;
using hearing = tracked<weft::notified_operation>;

/// Memory of a node that others can reach, until it ends.
class shared_bytes {
 public:
  shared_bytes(messenger& at, bytes content, rights permissions = rights::read_write)
      : memory(std::move(content)), at_(&at), key_(at.regions().add(memory, permissions)) {}
  ~shared_bytes() { end(); }
  shared_bytes(const shared_bytes&) = delete;
  shared_bytes& operator=(const shared_bytes&) = delete;

  void end() {
    if (at_) std::exchange(at_, nullptr)->regions().end(key_);
  }
  remote_region remote() const { return {key_, 0, memory.size()}; }
  std::shared_ptr<hearing> hear() {
    auto op = std::make_shared<hearing>(weft::notified_request{at_, key_});
    op->go();
    return op;
  }

  bytes memory;

 private:
  messenger* at_;
  std::uint64_t key_;
};

std::shared_ptr<transferring> begin_put(peer& to, const bytes& data, remote_region where,
                                        std::optional<notify> then = {}) {
  auto op = std::make_shared<transferring>(weft::transfer_request{
      {.to = &to, .kind = rma_kind::put, .where = where, .data = data, .then = then}});
  op->go();
  return op;
}
std::shared_ptr<transferring> begin_get(peer& from, bytes& into, remote_region where) {
  auto op = std::make_shared<transferring>(
      weft::transfer_request{{.to = &from, .kind = rma_kind::get, .where = where, .into = into}});
  op->go();
  return op;
}
std::shared_ptr<updating> begin_add(peer& to, remote_region word, std::uint64_t n) {
  auto op = std::make_shared<updating>(
      weft::update_request{{.to = &to, .kind = rma_kind::fetch_add, .where = word, .operand = n}});
  op->go();
  return op;
}

/// Links that copy by themselves, or do not.
struct link_kind {
  const char* name;
  bool copies;
  bool later;
  bool puts;
  unsigned failing;
};
link_kind some_links() {
  return GENERATE(
      link_kind{"frames", false, false, false, 0}, link_kind{"copied", true, false, true, 0},
      link_kind{"copied later", true, true, true, 0}, link_kind{"only read", true, true, false, 0},
      link_kind{"copies that fail", true, true, true, 50});
}
fake::settings links_of(const link_kind& m) {
  fake::settings s;
  if (m.copies) s.memory = fake::memory::readable;
  s.later = m.later;
  s.prefers_put = m.puts;
  s.failing = m.failing;
  s.room = 4;
  s.frames_per_poll = 3;
  return s;
}

}  // namespace

TEST_CASE("access: a link that can read does, unless messages have measured frames as cheaper") {
  using weft::proto::payload_scheme;
  constexpr std::size_t size = 300'000;
  const bool frames_are_cheaper = GENERATE(false, true);
  CAPTURE(frames_are_cheaper);
  fake::settings s;
  s.memory = fake::memory::readable;
  s.later = true;
  s.measures = true;
  nodes n(2, s);
  weft::proto::scheme_costs& costs = n[0].messages.costs().of(n[0].transport->traits().name);
  for (int i = 0; i != 100; ++i) {
    const payload_scheme how = costs.choose(size);
    costs.note(how, size, size,
               std::chrono::microseconds(
                   (how == payload_scheme::frames) == frames_are_cheaper ? 10 : 1000));
  }
  shared_bytes there(n[1].messages, pattern(size));
  bytes first(1), back(size);
  const auto connects = begin_get(n[0].to(1), first, there.remote());
  n.settle();
  REQUIRE(connects->ended_with(errc::ok));
  const auto read = begin_get(n[0].to(1), back, there.remote());
  bool shown = false;
  for (int quiet = 0; quiet != 2;) {
    quiet = n.step() ? 0 : quiet + 1;
    shown = shown || n.world.shown() != 0;
  }
  REQUIRE(read->ended_with(errc::ok));
  CHECK((back == there.memory));
  CHECK(shown != frames_are_cheaper);
  there.end();
  CHECK(n.clean());
}

TEST_CASE("access: any size by frames and by links that copy, also when these fail") {
  const link_kind m = some_links();
  CAPTURE(m.name);
  nodes n(2, links_of(m));
  shared_bytes there(n[1].messages, bytes(2'000'000));
  for (const std::size_t size : {0u, 1u, 8'192u, 8'193u, 65'536u, 65'537u, 300'000u, 1'999'999u}) {
    CAPTURE(size);
    const bytes out = pattern(size, size);
    const auto written = begin_put(n[0].to(1), out, there.remote().part(1, size), notify{size});
    const auto heard = there.hear();
    n.settle();
    REQUIRE(written->ended_with(errc::ok));
    REQUIRE(heard->ended_with(errc::ok));
    CHECK(heard->got.value == size);
    CHECK(heard->got.source == 0);
    CHECK((bytes(there.memory.begin() + 1,
                 there.memory.begin() + 1 + static_cast<std::ptrdiff_t>(size)) == out));
    bytes back(size);
    const auto read = begin_get(n[0].to(1), back, there.remote().part(1, size));
    n.settle();
    REQUIRE(read->ended_with(errc::ok));
    CHECK((back == out));
  }
  there.end();
  CHECK(n.clean());
  CHECK(n.world.shown() == 0);
  CHECK(n[0].messages.snapshot().rma_started == 16);
  CHECK(n[1].messages.snapshot().rma_served >= 16);
}

TEST_CASE("access: over several links to one peer") {
  two_nodes n({fake::manner{}, fake::manner{}});
  shared_bytes there(n[1].messages, bytes(1'000'000));
  const bytes out = pattern(1'000'000, 3);
  bytes back(out.size());
  const auto written = begin_put(*n[0].other, out, there.remote());
  n.settle();
  REQUIRE(written->ended_with(errc::ok));
  CHECK((there.memory == out));
  const auto read = begin_get(*n[0].other, back, there.remote());
  n.settle();
  REQUIRE(read->ended_with(errc::ok));
  CHECK((back == out));
}

TEST_CASE("access: more at once than a peer answers for; each is done once") {
  nodes n(2, links_of(some_links()));
  shared_bytes there(n[1].messages, bytes(64));
  std::vector<std::shared_ptr<updating>> all;
  const std::size_t many = 3 * most_outstanding_rma;
  for (std::size_t i = 0; i != many; ++i) all.push_back(begin_add(n[0].to(1), there.remote(), 1));
  n.settle();
  std::vector<bool> seen(many);
  for (const auto& op : all) {
    REQUIRE(op->ended_with(errc::ok));
    REQUIRE(op->found < many);
    seen[op->found] = true;
  }
  CHECK(std::count(seen.begin(), seen.end(), true) == static_cast<std::ptrdiff_t>(many));
  there.end();
  CHECK(n.clean());
}

TEST_CASE("access: stopped at any step, the next ones are right") {
  const link_kind m = some_links();
  CAPTURE(m.name);
  const bytes out = pattern(200'000, 1);
  for (int steps = 0; steps != 60; ++steps) {
    CAPTURE(steps);
    nodes n(2, links_of(m));
    shared_bytes there(n[1].messages, bytes(out.size()));
    bytes back(out.size());
    const bool writes = steps % 2 == 0;
    const auto first = writes ? begin_put(n[0].to(1), out, there.remote())
                              : begin_get(n[0].to(1), back, there.remote());
    for (int i = 0; i != steps / 2; ++i) n.step();
    first->cancel();
    n[0].engine.poll_once();
    const bytes seen = back;
    n.settle();
    REQUIRE((first->ended_with(errc::stopped) || first->ended_with(errc::ok)));
    if (first->status == errc::stopped && !m.copies) CHECK((back == seen));
    // The numbers of stopped operations are reused.
    std::vector<bytes> into(4, bytes(out.size()));
    const auto again = begin_put(n[0].to(1), out, there.remote());
    n.settle();
    REQUIRE(again->ended_with(errc::ok));
    std::vector<std::shared_ptr<transferring>> reads;
    for (bytes& b : into) reads.push_back(begin_get(n[0].to(1), b, there.remote()));
    n.settle();
    for (std::size_t i = 0; i != into.size(); ++i) {
      REQUIRE(reads[i]->ended_with(errc::ok));
      CHECK((into[i] == out));
    }
    there.end();
    CHECK(n.clean());
    CHECK(n.world.shown() == 0);
  }
}

TEST_CASE("access: a region that ends in the middle refuses the rest") {
  const link_kind m = some_links();
  if (m.later) return;  // then the operation waits for the link: tests/conformance/rma_test.cpp
  nodes n(2, links_of(m));
  bytes back(3'000'000);
  {
    shared_bytes there(n[1].messages, pattern(3'000'000));
    const auto read = begin_get(n[0].to(1), back, there.remote());
    const auto waiting = there.hear();
    for (int i = 0; i != 8; ++i) n.step();
    there.end();
    CHECK(waiting->ended() == false);
    n.settle();
    CHECK(waiting->ended_with(errc::closed));
    REQUIRE((read->ended_with(errc::refused) || read->ended_with(errc::ok)));
    if (read->status == errc::refused)
      CHECK(read->explain().find("no region with that key") != std::string::npos);
  }
  CHECK(n.clean());
}

TEST_CASE("access: a peer that dies ends what was asked of it, and what it was copying") {
  const link_kind m = some_links();
  CAPTURE(m.name);
  for (int steps = 0; steps != 20; ++steps) {
    CAPTURE(steps);
    nodes n(2, links_of(m));
    shared_bytes here(n[0].messages, bytes(300'000)), there(n[1].messages, bytes(300'000));
    const bytes out = pattern(300'000);
    bytes into(300'000), back(300'000);
    std::vector<std::shared_ptr<transferring>> mine{
        begin_put(n[0].to(1), out, there.remote()), begin_get(n[0].to(1), into, there.remote()),
        begin_put(n[1].to(0), out, here.remote()), begin_get(n[1].to(0), back, here.remote())};
    for (int i = 0; i != steps; ++i) n.step();
    n.world.kill(1);
    n.settle();
    REQUIRE((mine[0]->ended_with(errc::peer_lost) || mine[0]->ended_with(errc::ok)));
    REQUIRE((mine[1]->ended_with(errc::peer_lost) || mine[1]->ended_with(errc::ok)));
    here.end();  // does not wait for the dead peer
    CHECK(n[0].clean());
    n[1].end();
  }
}

TEST_CASE("access: notifications wait for their owner, up to a limit, and can be stopped") {
  nodes n(2);
  shared_bytes there(n[1].messages, bytes(8));
  const auto stopped = there.hear();
  stopped->cancel();
  n.settle();
  CHECK(stopped->ended_with(errc::stopped));
  std::vector<std::shared_ptr<transferring>> all;
  const auto tell = [&](std::uint64_t what) {
    all.push_back(begin_put(n[0].to(1), {}, there.remote(), notify{what}));
  };
  for (std::size_t i = 0; i != most_notifications; ++i) tell(i);
  n.settle();
  for (const auto& op : all) REQUIRE(op->ended_with(errc::ok));
  tell(most_notifications);
  n.settle();
  REQUIRE(all.back()->ended_with(errc::out_of_memory));
  CHECK(all.back()->explain().find("region::notified") != std::string::npos);
  // Many at once may overtake each other; each is notified once.
  std::vector<bool> told(most_notifications);
  for (std::size_t i = 0; i != most_notifications; ++i) {
    const auto heard = there.hear();
    REQUIRE(heard->ended_with(errc::ok));
    REQUIRE(heard->got.value < most_notifications);
    CHECK_FALSE(told[heard->got.value]);
    told[heard->got.value] = true;
  }
  tell(1);
  n.settle();
  CHECK(all.back()->ended_with(errc::ok));
  CHECK(there.hear()->got.value == 1);
  there.end();
  CHECK(n.clean());
}

TEST_CASE("access: when the messenger has ended nothing waits any more") {
  nodes n(2);
  shared_bytes here(n[0].messages, bytes(8));
  const auto before = here.hear();
  n[0].end();
  CHECK(before->ended_with(errc::closed));
  CHECK(here.hear()->ended_with(errc::closed));
  CHECK(begin_put(n[0].to(1), {}, remote_region{1, 0, 0})->ended_with(errc::closed));
  here.end();
  CHECK(n.clean());
}

TEST_CASE("access: words say what is wrong") {
  nodes n(2);
  shared_bytes there(n[1].messages, bytes(64), rights::read);
  bytes some(64), more(65);
  const auto text = [&n](const auto& op) {
    n.settle();
    return op->explain();
  };
  using weft::tests::contains;
  CHECK_THAT(text(begin_put(n[0].to(1), some, there.remote())),
             contains("not registered for that"));
  remote_region wrong = there.remote();
  wrong.offset = 1;
  CHECK_THAT(text(begin_get(n[0].to(1), some, wrong)), contains("ends before that"));
  wrong = there.remote();
  ++wrong.key;
  CHECK_THAT(text(begin_get(n[0].to(1), some, wrong)), contains("no region with that key"));
  CHECK_THAT(text(begin_get(n[0].to(1), more, there.remote())), contains("65 bytes"));
  CHECK_THAT(text(begin_get(n[0].to(1), some, {})), contains("names no memory"));
  CHECK_THROWS_WITH(there.remote().part(60, 5), contains("beyond the end"));
}

TEST_CASE("access: what no correct peer sends costs it its connection, and nobody else") {
  struct nonsense {
    const char* what;
    frame_kind kind;
    std::uint32_t size;
    std::uint8_t flags;
    frame_extension x;
    int times = 1;
  };
  constexpr std::uint64_t first = std::uint64_t{1} << 48;
  const auto n_of = GENERATE(values<nonsense>({
      {"a put by nobody", frame_kind::put, 8, access_ends, {0, 0}},
      {"a put that asks with bytes", frame_kind::put, 8, access_asks, {first, 8}},
      {"a get with bytes", frame_kind::get, 8, 0, {first, 8}},
      {"a get by nobody", frame_kind::get, 0, 0, {0, 8}},
      {"an update with bytes", frame_kind::update, 8, 0, {first, 8}},
      {"bytes that nobody wanted", frame_kind::got, 8, access_ends, {first, 0}},
      {"an answer to nothing", frame_kind::accessed, 0, 0, {1, 0}},
      {"a grant of nothing", frame_kind::granted, 0, 0, {1, 0}},
      {"a release of nothing", frame_kind::released, 0, 0, {1, 0}},
      {"the number of nobody", frame_kind::released, 0, 0, {std::uint64_t{1} << 40, 0}},
      {"an endless stream of questions",
       frame_kind::update,
       0,
       0,
       {first, 1},
       static_cast<int>(most_outstanding_rma) + 1},
  }));
  CAPTURE(n_of.what);
  fake::settings s;
  s.room = 4000;
  nodes n(3, s);
  shared_bytes there(n[0].messages, bytes(64));
  const auto link = n.raw_link(2, 0);
  const bytes junk = pattern(64);
  const weft::const_buffer whole(junk);
  n.links_allowed = false;  // so that the answers to the many operations wait
  for (int i = 0; i != n_of.times; ++i) {
    weft::transports::gather data({&whole, 1});
    const auto h =
        header_of(n_of.kind, there.remote().key, n_of.size,
                  static_cast<std::uint8_t>(n_of.flags | weft::transports::has_extension));
    link->send(h, &n_of.x, data);
  }
  n.settle();
  CHECK(n[0].to(2).why() == errc::protocol_error);
  n.links_allowed = true;
  const auto well = begin_put(n[1].to(0), junk, there.remote());
  n.settle();
  REQUIRE(well->ended_with(errc::ok));
  CHECK((there.memory == junk));
}
