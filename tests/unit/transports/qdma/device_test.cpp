// SPDX-License-Identifier: Apache-2.0
// The device: copies within bounds and rights, events, chains.
#include <algorithm>

#include "ends.hpp"
#include "support/catch.hpp"
#include "support/foreign_memory.hpp"

namespace {

using namespace weft::tests::qdma;
using weft::errc;
using what = wq::descriptor::what;
using wq::rights;

/// Memory of a side, filled, and its key.
struct shown {
  shown(side& s, std::size_t size, rights permissions, std::byte fill, bool arena = true)
      : owner(s) {
    const weft::runtime::engine::holder hold(s.engine);
    if (arena) {
      memory = s.device.regions().allocate(size);
    } else {
      own.resize(size);
      memory = own;
    }
    std::ranges::fill(memory, fill);
    key = s.device.regions().add(memory, permissions);
  }
  std::size_t count(std::byte b) const {
    return static_cast<std::size_t>(std::ranges::count(memory, b));
  }
  side& owner;
  std::vector<std::byte> own;
  std::span<std::byte> memory;
  std::uint64_t key = 0;
};

std::uint64_t event_of(side& s, std::uint64_t completions = 1, bool repeat = false) {
  const weft::runtime::engine::holder hold(s.engine);
  return s.device.make_event(completions, repeat);
}

/// Runs one chain and returns how it ended.
errc outcome_of(node& n, std::vector<wq::descriptor> steps, std::string* why = nullptr) {
  const std::uint64_t over = event_of(n[0]);
  steps.push_back(signalling(n[0].id(), over));
  n[0].start(std::move(steps));
  n.settle();
  const trigger t(n[0], over);
  REQUIRE(t.over);
  if (why) *why = t.why;
  return t.status;
}

constexpr std::byte ours{1}, theirs{2};

TEST_CASE("qdma device: messages arrive in order, a full queue holds them back", "[qdma]") {
  node n;
  std::uint32_t number = 0;
  {
    const weft::runtime::engine::holder hold(n[1].engine);
    number = n[1].device.open_queue();
  }
  constexpr unsigned messages = 5 * qd::slot_count;
  for (unsigned i = 0; i != messages; ++i)
    n[0].start({posting(n[1].id(), number, std::to_string(i))});
  std::array<std::byte, wq::max_post> box{};
  for (unsigned i = 0; i != messages; ++i) {
    receipt r(n[1], number, box);
    n.settle();
    REQUIRE(r.over);
    REQUIRE(r.status == errc::ok);
    REQUIRE(r.got.from == n[0].id());
    REQUIRE(std::string(reinterpret_cast<const char*>(box.data()), r.got.size) ==
            std::to_string(i));
  }
  n[0].start({posting(n[1].id(), number, "too long for that")});
  receipt r(n[1], number, std::span(box).first(3));
  n.settle();
  CHECK(r.status == errc::truncated);
  CHECK(r.got.size == 17);
}

TEST_CASE("qdma device: copies in both directions, through the arena and by the kernel", "[qdma]") {
  if (weft::tests::skipped_without_cma()) return;
  node n;
  const bool arena = GENERATE(true, false);
  const std::size_t size = 3 * qd::device::slice + 17;
  const shown mine(n[0], size, rights::none, ours);
  const shown other(n[1], size, rights::read_write, theirs, arena);
  const auto how =
      outcome_of(n, {copying(what::write, mine.key, n[1].id(), other.key, size - 100, 60, 20)});
  REQUIRE(how == errc::ok);
  CHECK(other.count(ours) == size - 100);
  CHECK(other.memory[59] == theirs);
  CHECK(other.memory[60] == ours);
  std::ranges::fill(other.memory, std::byte{3});
  REQUIRE(outcome_of(n, {copying(what::read, mine.key, n[1].id(), other.key, 1000)}) == errc::ok);
  CHECK(mine.count(std::byte{3}) == 1000);
  REQUIRE(outcome_of(n, {copying(what::read, mine.key, n[1].id(), other.key, 0)}) == errc::ok);
}

TEST_CASE("qdma device: beyond bounds and rights nothing is copied, and it is said why", "[qdma]") {
  node n;
  const shown mine(n[0], 4096, rights::read_write, ours);
  const shown readable(n[1], 4096, rights::read, theirs);
  const shown writable(n[1], 4096, rights::write, theirs);
  const auto other = n[1].id();
  const std::uint64_t huge = ~std::uint64_t{0};
  std::string why;
  const auto fails = [&](wq::descriptor d, std::string_view text) {
    CHECK(outcome_of(n, {std::move(d)}, &why) == errc::invalid_argument);
    CHECK_THAT(why, weft::tests::contains(std::string(text)));
    CHECK(readable.count(theirs) == 4096);
    CHECK(writable.count(theirs) == 4096);
    CHECK(mine.count(ours) == 4096);
  };
  fails(copying(what::write, mine.key, other, readable.key, 10), "lets nobody write");
  fails(copying(what::read, mine.key, other, writable.key, 10), "lets nobody read");
  fails(copying(what::read, mine.key, other, readable.key, 10, 4090), "beyond the end");
  fails(copying(what::read, mine.key, other, readable.key, 10, 0, 4090), "beyond the end");
  fails(copying(what::read, mine.key, other, readable.key, 4096, huge - 10), "beyond the end");
  fails(copying(what::read, mine.key, other, readable.key, huge, 20), "beyond the end");
  fails(copying(what::read, mine.key, other, readable.key, 10, 20, huge), "beyond the end");
  for (const std::uint64_t forged :
       {std::uint64_t{0}, huge, readable.key + (std::uint64_t{1} << 32), readable.key ^ 1,
        std::uint64_t{qd::region_count + 1}})
    fails(copying(what::read, mine.key, other, forged, 10), "no region has that key");
  fails(copying(what::read, mine.key + (std::uint64_t{1} << 32), other, readable.key, 10),
        "region of this process");
  // To the process itself, too.
  fails(copying(what::read, mine.key, n[0].id(), mine.key, 4097), "beyond the end");
}

TEST_CASE("qdma device: a region that was taken back is found by nobody, its record is used again",
          "[qdma]") {
  node n;
  const shown mine(n[0], 64, rights::none, ours);
  const shown old(n[1], 64, rights::read_write, theirs);
  {
    const weft::runtime::engine::holder hold(n[1].engine);
    auto& r = n[1].device.regions();
    r.withdraw(old.key);
    CHECK_FALSE(r.is_held(n[1].device.segment(), old.key, n[1].device.contexts()));
    r.retire(old.key, n[1].device.segment());
  }
  const shown next(n[1], 64, rights::read_write, theirs);
  CHECK(static_cast<std::uint32_t>(next.key) == static_cast<std::uint32_t>(old.key));
  CHECK(next.key != old.key);
  CHECK(outcome_of(n, {copying(what::write, mine.key, n[1].id(), old.key, 64)}) ==
        errc::invalid_argument);
  CHECK(next.count(theirs) == 64);
  CHECK(outcome_of(n, {copying(what::write, mine.key, n[1].id(), next.key, 64)}) == errc::ok);
}

TEST_CASE("qdma device: memory that was allocated and given back is whole again", "[qdma]") {
  node n(1);
  auto& r = n[0].device.regions();
  const auto a = r.allocate(1000), b = r.allocate(5000), c = r.allocate(64);
  r.free(b);
  r.free(a);
  r.free(c);
  const auto all = r.allocate(qd::device::default_arena);
  CHECK(all.data() == a.data());
  CHECK_THROWS_WITH(r.allocate(1), weft::tests::contains("are left"));
  CHECK_THROWS_AS(r.allocate(~std::size_t{0}), weft::error);
}

TEST_CASE("qdma device: completions between a trigger and the next arming count", "[qdma]") {
  node n;
  const std::uint64_t e = event_of(n[1], 2);
  const auto complete = [&](int times) {
    while (times-- != 0) n[0].start({signalling(n[1].id(), e)});
    n.settle();
  };
  trigger first(n[1], e);
  complete(1);
  CHECK_FALSE(first.over);
  complete(4);  // three more than it waits for
  CHECK(first.over);
  trigger second(n[1], e);
  CHECK_FALSE(second.over);
  {
    const weft::runtime::engine::holder hold(n[1].engine);
    n[1].device.arm_event(e, 3);
  }
  n.settle();
  CHECK(second.over);
  trigger third(n[1], e);
  {
    const weft::runtime::engine::holder hold(n[1].engine);
    n[1].device.arm_event(e, 1);
  }
  n.settle();
  CHECK_FALSE(third.over);
  complete(1);
  CHECK(third.over);
}

TEST_CASE("qdma device: a chain of 1000 descriptors goes round four contexts", "[qdma]") {
  node n(4);
  constexpr unsigned rounds = 250;
  // Each passes on what comes; the last one passes it back until it has come often enough.
  std::vector<std::uint64_t> event;
  for (auto& s : n.sides) event.push_back(event_of(*s, 1, true));
  const std::uint64_t over = event_of(n[0], rounds);
  for (std::size_t i = 0; i != 4; ++i) {
    std::vector<wq::descriptor> steps;
    if (i == 3) steps.push_back(signalling(n[0].id(), over));
    if (i != 0) steps.push_back(signalling(n[(i + 1) % 4].id(), event[(i + 1) % 4]));
    const weft::runtime::engine::holder hold(n[i].engine);
    if (i != 0)
      n[i].device.hang(event[i],
                       std::make_shared<const std::vector<wq::descriptor>>(std::move(steps)));
  }
  {
    const weft::runtime::engine::holder hold(n[0].engine);
    n[0].device.hang(event[0], std::make_shared<const std::vector<wq::descriptor>>(
                                   std::vector{signalling(n[1].id(), event[1])}));
  }
  trigger t(n[0], over);
  n[0].start({signalling(n[1].id(), event[1])});
  for (int i = 0; i != 100000 && !t.over; ++i)
    for (auto& s : n.sides) {
      s->poll();
      if (t.over) break;
    }
  n[0].engine.poll_once();
  CHECK(t.over);
  CHECK(t.status == errc::ok);
}

TEST_CASE("qdma device: a cycle ends with an error that says what it is", "[qdma]") {
  node n;
  const std::size_t other = GENERATE(std::size_t{0}, std::size_t{1});
  const std::uint64_t a = event_of(n[0], 1, true), b = event_of(n[other], 1, true);
  {
    const weft::runtime::engine::holder hold(n[0].engine);
    n[0].device.hang(a, std::make_shared<const std::vector<wq::descriptor>>(
                            std::vector{signalling(n[other].id(), b)}));
  }
  {
    const weft::runtime::engine::holder hold(n[other].engine);
    n[other].device.hang(b, std::make_shared<const std::vector<wq::descriptor>>(
                                std::vector{signalling(n[0].id(), a)}));
  }
  n[0].start({signalling(n[0].id(), a)});
  // The failure goes round like any completion, so it must end, too.
  for (std::uint32_t i = 0; i != 4 * qd::device::most_hops; ++i)
    for (auto& s : n.sides) s->poll();
  for (auto& s : n.sides) CHECK(s->poll() == 0);
  CHECK(n[0].device.failures() + n[1].device.failures() >= 1);
  CHECK_THAT(n[0].device.describe() + n[1].device.describe(), weft::tests::contains("a cycle?"));
}

TEST_CASE("qdma device: chains without bound are refused, and it goes on", "[qdma]") {
  node n;
  // Each trigger starts two chains that trigger it again.
  const std::uint64_t e = event_of(n[0], 1, true);
  const auto again =
      std::make_shared<const std::vector<wq::descriptor>>(std::vector{signalling(n[0].id(), e)});
  {
    const weft::runtime::engine::holder hold(n[0].engine);
    n[0].device.hang(e, again);
    n[0].device.hang(e, again);
  }
  n[0].start({signalling(n[0].id(), e)});
  for (int i = 0; i != 20'000; ++i) n[0].poll();
  CHECK_THAT(n[0].device.describe(), weft::tests::contains("are under way"));
  {
    const weft::runtime::engine::holder hold(n[0].engine);
    n[0].device.drop_event(e);
  }
  n.settle();
  CHECK(outcome_of(n, {posting(n[1].id(), 1, "x")}) == errc::ok);
}

TEST_CASE("qdma device: a failure reaches those that wait, here and elsewhere, and nothing else",
          "[qdma]") {
  node n;
  const shown mine(n[0], 64, rights::read_write, ours);
  const shown other(n[1], 64, rights::read_write, theirs);
  const std::uint64_t here = event_of(n[0]), there = event_of(n[1]);
  trigger t(n[0], here), u(n[1], there);
  n[0].start({copying(what::write, mine.key, n[1].id(), 12345, 64),
              copying(what::write, mine.key, n[1].id(), other.key, 64),
              signalling(n[1].id(), there), signalling(n[0].id(), here)});
  n.settle();
  CHECK(t.status == errc::invalid_argument);
  CHECK(u.status == errc::invalid_argument);
  CHECK_THAT(u.why, weft::tests::contains("failed there"));
  CHECK(other.count(theirs) == 64);
}

TEST_CASE("qdma device: who is lost ends what depends on it, and nothing else", "[qdma]") {
  node n(3);
  const std::uint64_t on_1 = event_of(n[0], 5), on_2 = event_of(n[0], 5);
  const auto lost = n[1].device.self();
  {
    const weft::runtime::engine::holder hold(n[0].engine);
    n[0].device.depend(on_1, lost);
    n[0].device.depend(on_2, n[2].device.self());
  }
  trigger t(n[0], on_1), u(n[0], on_2);
  for (unsigned i = 0; i != 2 * qd::slot_count; ++i)
    n[0].start({posting(n[1].id(), 1, "x"), signalling(n[0].id(), on_2)});
  {
    const weft::runtime::engine::holder hold(n[1].engine);
    n[1].device.close();
  }
  {
    const weft::runtime::engine::holder hold(n[0].engine);
    n[0].device.lose(lost);
  }
  n.settle();
  CHECK(t.status == errc::peer_lost);
  CHECK(u.over);
  std::string why;
  CHECK(outcome_of(n, {posting(static_cast<wq::process>(lost), 1, "x")}, &why) == errc::peer_lost);
  CHECK_THAT(why, weft::tests::contains("has ended"));
  CHECK(outcome_of(n, {posting(n[2].id(), 1, "x")}) == errc::ok);
  // Also while the table does not show it yet: sockets close before a process is known to be dead.
  {
    const weft::runtime::engine::holder hold(n[0].engine);
    n[0].device.lose(n[2].device.self());
  }
  CHECK(n[0].device.contexts().lives(n[2].device.self()));
  CHECK(outcome_of(n, {posting(n[2].id(), 1, "x")}) == errc::peer_lost);
}

TEST_CASE("qdma device: what a process signalled before its end counts", "[qdma]") {
  node n;
  const std::uint64_t e = event_of(n[1]);
  trigger t(n[1], e);
  n[0].start({signalling(n[1].id(), e)});
  const auto gone = n[0].device.self();
  {
    const weft::runtime::engine::holder hold(n[0].engine);
    n[0].device.close();
  }
  {
    const weft::runtime::engine::holder hold(n[1].engine);
    n[1].device.depend(e, gone);
    n[1].device.lose(gone);
  }
  n.settle();
  CHECK(t.over);
  CHECK(t.status == errc::ok);
}

TEST_CASE("qdma device: long copies let small ones pass", "[qdma]") {
  node n;
  const std::size_t size = 16u << 20;
  const shown mine(n[0], size, rights::none, ours);
  const shown other(n[1], size, rights::write, theirs);
  const std::uint64_t big = event_of(n[0]), small = event_of(n[0]);
  trigger b(n[0], big), s(n[0], small);
  n[0].start(
      {copying(what::write, mine.key, n[1].id(), other.key, size), signalling(n[0].id(), big)});
  n[0].start(
      {copying(what::write, mine.key, n[1].id(), other.key, 8), signalling(n[0].id(), small)});
  for (int i = 0; i != 3; ++i) n[0].engine.poll_once(), n[0].poll();
  n[0].engine.poll_once();
  CHECK(s.over);
  CHECK_FALSE(b.over);
  n.settle();
  CHECK(b.over);
  CHECK(other.count(ours) == size);
}

TEST_CASE("qdma device: its end ends what waits", "[qdma]") {
  node n;
  const std::uint64_t e = event_of(n[0]);
  std::array<std::byte, 8> box{};
  trigger t(n[0], e);
  receipt r(n[0], 1, box);
  {
    const weft::runtime::engine::holder hold(n[0].engine);
    n[0].device.close();
  }
  n.settle();
  CHECK(t.status == errc::closed);
  CHECK(r.status == errc::closed);
  const trigger late(n[0], e);
  CHECK(late.over);
  CHECK(late.status == errc::closed);
}

}  // namespace
