// SPDX-License-Identifier: Apache-2.0
// One side reads and writes the other's memory over verbs; an end is closed, or lies, in the
// middle.
#include "ends.hpp"

using namespace ends;

namespace {

using told = std::vector<std::pair<std::uint64_t, bool>>;

/// Both may send, so both can show, read and write.
struct both {
  fabric net;
  end a, b;
  explicit both(const verbs::settings& s = {}) : a(net, s), b(net, s) {
    connect(a, b);
    connect(b, a);
  }
};

verbs::settings keeping() {
  verbs::settings s;
  s.regions.caching = registration_caching::bounded;
  return s;
}

}  // namespace

TEST_CASE("verbs: memory that is shown is read, whole and in part, and its link says when") {
  fabric net;
  end a(net), b(net);
  a.hardware.abilities.longest = 1024;
  connect(a, b);
  connect(b, a);
  const bytes there = pattern(100'000);
  const auto at = b.expose(there);
  REQUIRE(at);
  bytes here(100'000), some(30'000);
  CHECK(a.get(here, *at, 7) == post::failed);  // it would take too many short work requests
  REQUIRE(a.get(some, {at->region, at->offset + 1}, 8) == post::posted);
  CHECK(a.in.transferred.empty());  // from within poll only
  settle(a, b);
  CHECK(a.in.transferred == told{{8, true}});
  CHECK(std::equal(some.begin(), some.end(), there.begin() + 1));
  CHECK(a.hardware.reads == 30);
  CHECK(a.hardware.writes == 0);
}

TEST_CASE("verbs: several pieces are read and written at once, with one word at the end") {
  both x;
  const bytes one = pattern(20'000, 1), two = pattern(5, 2);
  bytes there(30'000), half(12'000), rest(8'005);
  const auto at = x.b.expect(there);
  REQUIRE(at);
  const const_buffer out[] = {one, const_buffer{}, two};
  const mutable_buffer in[] = {half, rest};
  {
    const engine::holder hold(x.a.turns);
    REQUIRE(x.a.link->put(gather(out), *at, 20'005, 1) == post::posted);
    REQUIRE(x.a.link->get(scatter(in), *at, 20'005, 2) == post::posted);
    CHECK(x.a.link->put(gather(out), *at, 20'006, 3) == post::failed);  // beyond the end
    CHECK(x.a.link->put(gather(out), *at, 0, 3) == post::failed);
  }
  settle(x.a, x.b);
  CHECK(x.a.in.transferred == told{{1, true}, {2, true}});
  CHECK(std::equal(one.begin(), one.end(), there.begin()));
  CHECK(std::equal(two.begin(), two.end(), there.begin() + 20'000));
  CHECK(std::equal(half.begin(), half.end(), there.begin()));
  CHECK(std::equal(rest.begin(), rest.end(), there.begin() + 12'000));
}

TEST_CASE("verbs: what is sent behind a write arrives behind it") {
  both x;
  const bytes data = pattern(50'000);
  bytes there(50'000);
  const auto at = x.b.expect(there);
  x.net.moves = 1000;
  REQUIRE(x.a.put(data, *at) == post::posted);
  REQUIRE(x.a.send(numbered(5)) == post::done);
  settle(x.a, x.b);
  CHECK(x.b.in.frames.empty());
  CHECK(x.a.in.transferred.empty());
  x.net.moves = ~std::size_t{0};
  x.net.go_on();
  settle(x.a, x.b);
  CHECK(x.b.in.frames.size() == 1);
  CHECK(there == data);
}

TEST_CASE("verbs: a full send queue is room that is told of") {
  both x;
  const bytes there = pattern(64);
  const auto at = x.b.expose(there);
  std::vector<bytes> into(200, bytes(64));
  x.net.moves = 0;
  std::size_t taken = 0;
  while (x.a.get(into[taken], *at, taken) == post::posted) ++taken;
  CHECK(taken == verbs::send_queue::depth);
  CHECK(x.a.get(into[taken], *at, taken) == post::busy);
  CHECK(x.a.in.rooms == 0);
  x.net.moves = 64;
  x.net.go_on();
  settle(x.a, x.b);
  CHECK(x.a.in.rooms == 1);
  CHECK(x.a.in.transferred.size() == taken);
  for (std::size_t i = 0; i != taken; ++i) CHECK(into[i] == there);
  CHECK(x.a.get(into[taken], *at, taken) == post::posted);
}

TEST_CASE("verbs: a read that the device does not take is not done when an earlier one is") {
  both x;
  const bytes there = pattern(64);
  bytes first(64), second(64);
  const auto at = x.b.expose(there);
  REQUIRE(x.a.get(first, *at, 1) == post::posted);
  x.a.hardware.refuses = true;
  CHECK(x.a.get(second, *at, 2) == post::posted);
  settle(x.a, x.b);
  for (const auto& [cookie, well] : x.a.in.transferred) CHECK_FALSE((cookie == 2 && well));
  CHECK(second == bytes(64));
}

TEST_CASE("verbs: a registration ends with its transfer, unless the cache is asked to keep it") {
  both x;
  bytes there = pattern(100'000), here(100'000);
  const std::size_t known = x.a.hardware.regions_known();
  const auto at = x.b.expose(there);
  x.net.moves = 1;
  REQUIRE(x.a.get(here, *at) == post::posted);
  CHECK(x.a.hardware.regions_known() == known + 1);
  CHECK(x.b.hardware.regions_known() == known + 1);
  x.net.moves = ~std::size_t{0};
  x.net.go_on();
  settle(x.a, x.b);
  x.b.withdraw(*at);
  CHECK(x.a.hardware.regions_known() == known);
  CHECK(x.b.hardware.regions_known() == known);
}

TEST_CASE("verbs: memory is registered once, for as long as the cache keeps it") {
  both x(keeping());
  bytes there = pattern(100'000), here(100'000);
  const mutable_buffer all(here);
  for (int i = 0; i != 5; ++i) {
    const auto at = x.b.expose(there);
    REQUIRE(at);
    REQUIRE(x.a.get(all, *at) == post::posted);
    settle(x.a, x.b);
    REQUIRE(x.a.get(all.subspan(10'000, 20'000), *at) == post::posted);
    settle(x.a, x.b);
    x.b.withdraw(*at);
  }
  metrics reader, owner;
  x.a.transport.add_to(reader);
  x.b.transport.add_to(owner);
  CHECK(reader.memory_registrations == 1);
  CHECK(reader.registration_hits == 4);
  CHECK(reader.registration_sub_range_hits == 5);
  CHECK(owner.memory_registrations == 1);
  const std::size_t known = x.a.hardware.regions_known();
  {
    const engine::holder hold(x.a.turns);
    x.a.transport.invalidate_registrations(here);
  }
  CHECK(x.a.hardware.regions_known() == known - 1);
}

TEST_CASE("verbs: a read uses its registration until it has ended, also if that is forgotten") {
  both x(keeping());
  const bytes there = pattern(10'000);
  bytes here(10'000);
  const auto at = x.b.expose(there);
  x.net.moves = 10;
  REQUIRE(x.a.get(here, *at) == post::posted);
  {
    const engine::holder hold(x.a.turns);
    x.a.transport.invalidate_registrations(here);
  }
  x.net.moves = ~std::size_t{0};
  x.net.go_on();  // the fake device ends the test if the memory is not registered any more
  settle(x.a, x.b);
  CHECK(here == there);
}

TEST_CASE("verbs: memory that cannot be locked is not shown and not moved, and people learn why") {
  both x;
  const bytes there = pattern(50'000);
  const auto at = x.b.expose(there);
  bytes here(50'000);
  x.a.hardware.lockable = 49'999;
  CHECK(x.a.get(here, *at) == post::failed);
  CHECK(x.a.put(here, *at) == post::failed);
  CHECK(!x.a.expose(here));
  CHECK(!x.a.expect(here));
  CHECK(x.a.transport.describe().find("memory to lock") != std::string::npos);
  CHECK(x.a.send(numbered(1)) == post::done);
  CHECK(x.a.in.broken.empty());
}

TEST_CASE("verbs: a device that answers no reads is not read from") {
  fabric net;
  end a(net), b(net);
  b.hardware.abilities.reads_at_once = 0;
  connect(a, b);
  connect(b, a);
  const bytes there = pattern(50'000);
  bytes here(50'000);
  const auto at = b.expose(there);
  REQUIRE(at);
  const engine::holder hold(a.turns);
  CHECK(a.link->prefers_get(*at, 50'000) == preference::no);
  CHECK(a.link->prefers_put(50'000));
  const mutable_buffer one(here);
  CHECK(a.link->get(scatter({&one, 1}), *at, 50'000, 1) == post::failed);
}

TEST_CASE("verbs: a forged name breaks the connection of who uses it, and nothing else") {
  both x;
  end other(x.net);
  recorder second;
  {
    const wireup_message offer = other.open();
    wireup_message answer;
    const engine::holder hold(x.b.turns);
    REQUIRE(x.b.transport.accept(second, x.b.who, {0, offer.bytes, {}}, answer) == "");
    REQUIRE(other.link->opened(std::move(answer)) == "");
  }
  bytes there = pattern(50'000), before = there, here(50'000);
  auto at = *x.b.expose(there);
  bool write = false;
  SECTION("another key") { at.region = static_cast<std::uint16_t>(at.region + 1); }
  SECTION("beyond its end") { at.offset += 1; }
  SECTION("a write of what may be read") { write = true; }
  SECTION("what was withdrawn and forgotten") {
    x.b.withdraw(at);
    const engine::holder hold(x.b.turns);
    x.b.transport.invalidate_registrations(there);
  }
  REQUIRE((write ? x.a.put(here, at) : x.a.get(here, at)) == post::posted);
  REQUIRE(eventually(x.a, x.b, [&] { return !x.a.in.broken.empty(); }));
  CHECK(x.a.in.broken == std::vector<errc>{errc::peer_lost});
  CHECK(x.a.link->trouble().find("remote access error") != std::string::npos);
  CHECK(x.a.in.transferred.empty());  // the transfer ends with the link
  CHECK(there == before);
  CHECK(other.send(numbered(1)) == post::done);
  settle(other, x.b);
  CHECK(second.frames.size() == 1);
  CHECK(second.broken.empty());
  const engine::holder hold(x.b.turns);
  other.drop_link();
  x.b.transport.forget(second);
}

TEST_CASE("verbs: after let_go nobody touches memory, and what was sent before has arrived") {
  both x;
  const bytes data = pattern(20'000);
  bytes mine(20'000), theirs(20'000);
  const auto at_a = x.a.expect(mine), at_b = x.b.expose(data);
  x.net.moves = 100;
  SECTION("the one who reads") {
    REQUIRE(x.a.send(numbered(1)) == post::done);
    REQUIRE(x.a.get(mine, *at_b) == post::posted);
  }
  SECTION("the one who is written to") {
    REQUIRE(x.a.send(numbered(1)) == post::done);
    REQUIRE(x.b.put(data, *at_a) == post::posted);
  }
  x.a.let_go();
  const bytes then = mine;
  x.net.moves = ~std::size_t{0};
  x.net.go_on();
  x.a.in.transferred.clear();
  settle(x.a, x.b);
  CHECK(mine == then);
  CHECK(mine != data);
  CHECK(x.a.in.transferred.empty());
  CHECK(x.b.in.frames.size() == 1);
  CHECK(x.a.send(numbered(2)) == post::failed);
  CHECK(x.a.get(mine, *at_b) == post::failed);
  CHECK(!x.a.expect(mine));
}

TEST_CASE("verbs: let_go of a link that shows and moves nothing ends nothing") {
  both x;
  const bytes there = pattern(20'000);
  const auto at = x.b.expose(there);
  bytes here(20'000);
  REQUIRE(x.a.get(here, *at) == post::posted);
  settle(x.a, x.b);
  x.b.withdraw(*at);
  x.a.let_go();
  x.b.let_go();
  REQUIRE(x.a.send(numbered(1)) == post::done);
  settle(x.a, x.b);
  CHECK(x.b.in.frames.size() == 1);
}

TEST_CASE("verbs: names keep key and address apart, and offsets add up") {
  const verbs::named_place p{0xfedc'ba98, 0xffff'0000};
  auto at = p.packed();
  at = remote_address::unpack(at.packed());
  CHECK(verbs::named_place::of(at).key == p.key);
  at.offset += 0xffff;
  CHECK(verbs::named_place::of(at).key == p.key);
  CHECK(verbs::named_place::of(at).address == 0xffff'ffff);
}
