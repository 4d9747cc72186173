// SPDX-License-Identifier: Apache-2.0
// Flags in shared memory: two engines of one process are members of one segment.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace weft::runtime;

namespace {

constexpr flag_layout layout{2, 8, 100};

/// A member with an engine.
struct member {
  member(const unique_fd& memory, std::uint32_t self, progress_mode mode = progress_mode::interrupt)
      : e(mode, {}, "epoll"), segment(memory, layout, self, e.own_doorbell()) {}
  ~member() {
    const engine::holder hold(e);
    e.flags().forget(segment);
  }

  flag_request until(flag_range r, std::uint64_t value) { return {&e, &segment, r, value}; }

  engine e;
  flag_segment segment;
};

/// A wait that notes its end.
struct wait_for_flags final : flag_operation {
  explicit wait_for_flags(const flag_request& r)
      : flag_operation(
            r, [](operation& op) noexcept { static_cast<wait_for_flags&>(op).done = true; }) {}
  std::atomic<bool> done = false;
};

struct two_members {
  unique_fd memory = flag_segment::make(layout);
  member a{memory, 0}, b{memory, 1};
};

}  // namespace

TEST_CASE("flag segment: it is whole when all members have joined") {
  const unique_fd memory = flag_segment::make(layout);
  member a(memory, 0);
  CHECK_FALSE(a.segment.is_whole());
  const member b(memory, 1);
  CHECK(a.segment.is_whole());
  CHECK_FALSE(a.segment.is_refused());
  CHECK(a.segment.user_memory().size() == layout.user_bytes);
}

TEST_CASE("flag segment: a member that refuses is known to all") {
  two_members m;
  m.b.segment.refuse();
  CHECK(m.a.segment.is_refused());
}

TEST_CASE("flag segment: a wait ends when all flags of its range have their value") {
  two_members m;
  wait_for_flags w(m.a.until({2, 2}, 5));
  REQUIRE_FALSE(w.start());
  m.b.segment.raise(m.b.segment.at(2), 5);
  m.a.e.poll_once();
  CHECK_FALSE(w.done);
  m.b.segment.raise(m.b.segment.at(3), 9);
  m.a.e.poll_once();
  CHECK(w.done);
  CHECK(w.status == errc::ok);
  wait_for_flags later(m.a.until({2, 2}, 5));
  CHECK(later.start());
}

TEST_CASE("flag segment: bytes that were written before a flag are there with it") {
  two_members m;
  m.b.segment.at(1).with[3] = std::byte{7};
  m.b.segment.user_memory()[99] = std::byte{8};
  m.b.segment.raise(m.b.segment.at(1), 1);
  REQUIRE(m.a.until({1, 1}, 1).try_now());
  CHECK(m.a.segment.at(1).with[3] == std::byte{7});
  CHECK(m.a.segment.user_memory()[99] == std::byte{8});
}

TEST_CASE("flag segment: a sleeping member is rung by the flag that it awaits, and by no other") {
  two_members m;
  wait_for_flags w(m.a.until({4, 2}, 1));
  REQUIRE_FALSE(w.start());
  std::thread sleeper([&] { m.a.e.run_until_done(w.done); });
  const auto sleeps = [&] { return m.a.e.counters().sleeps.load(); };
  const auto is_asleep = [&] {
    const engine::holder hold(m.a.e);
    return m.a.e.state() == progress_state::asleep;
  };
  while (!is_asleep()) std::this_thread::yield();
  m.b.segment.raise(m.b.segment.at(4), 1);  // one of the two that it awaits
  m.b.segment.raise(m.b.segment.at(0), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(sleeps() == 0);
  m.b.segment.raise(m.b.segment.at(5), 1);
  sleeper.join();
  CHECK(w.status == errc::ok);
  CHECK(sleeps() == 1);
}

TEST_CASE("flag segment: another thread of a sleeping member raises the flag that it awaits") {
  two_members m;
  wait_for_flags w(m.a.until({6, 1}, 1));
  REQUIRE_FALSE(w.start());
  std::thread sleeper([&] { m.a.e.run_until_done(w.done); });
  const auto is_asleep = [&] {
    const engine::holder hold(m.a.e);
    return m.a.e.state() == progress_state::asleep;
  };
  while (!is_asleep()) std::this_thread::yield();
  m.a.segment.raise_to(m.a.segment.at(6), 1);
  sleeper.join();
  CHECK(w.status == errc::ok);
}

TEST_CASE("flag segment: a flag that several raise keeps the highest value, and counts") {
  two_members m;
  flag& f = m.a.segment.at(0);
  m.a.segment.raise_to(f, 7);
  m.b.segment.raise_to(m.b.segment.at(0), 5);
  CHECK(f.value == 7);
  CHECK(m.b.segment.add(m.b.segment.at(0), 3) == 7);
  CHECK(f.value == 10);
}

TEST_CASE(
    "flag segment: waits that were stopped or have failed end so, unless the flags have come") {
  two_members m;
  wait_for_flags stopped(m.a.until({0, 1}, 1)), failed(m.a.until({1, 1}, 1)),
      well(m.a.until({2, 1}, 1));
  for (wait_for_flags* w : {&stopped, &failed, &well}) REQUIRE_FALSE(w->start());
  stopped.cancel();
  m.b.segment.raise(m.b.segment.at(2), 1);
  {
    const engine::holder hold(m.a.e);
    const auto lacks = flag_waits::lacks(m.a.segment);
    REQUIRE(lacks);
    CHECK(lacks->flag == 1);
    CHECK(flag_waits::lacks(m.a.segment, 1, 2));
    CHECK_FALSE(flag_waits::lacks(m.a.segment, 0, 2));
    m.a.e.flags().fail(m.a.segment, errc::peer_lost);
  }
  m.a.e.poll_once();
  CHECK(stopped.status == errc::stopped);
  CHECK(failed.status == errc::peer_lost);
  CHECK(well.status == errc::ok);
  CHECK((stopped.done && failed.done && well.done));
  wait_for_flags too_late(m.a.until({7, 1}, 1));
  CHECK(too_late.start());
  CHECK(too_late.status == errc::peer_lost);
  wait_for_flags stopped_before(m.b.until({7, 1}, 1));
  stopped_before.cancel();
  CHECK(stopped_before.start());
  CHECK(stopped_before.status == errc::stopped);
}

TEST_CASE("flag segment: what another member writes into its words harms nobody's memory") {
  two_members m;
  // As a member that lies: it seems to sleep, and to await flags that there are not.
  auto* const words = reinterpret_cast<flag_member*>(
      reinterpret_cast<std::byte*>(&m.b.segment.at(0)) - 2 * sizeof(flag_member));
  auto* const header =
      reinterpret_cast<flag_header*>(reinterpret_cast<std::byte*>(words) - sizeof(flag_header));
  words[1].first = 0xfffffff0;
  words[1].count = 0x20;
  words[1].caller_bell = {};
  words[1].asleep = 1;
  header->sleepers = 1;
  m.a.segment.raise(m.a.segment.at(0), 1);  // rings a bell that nobody has
  words[1].first = 7;
  words[1].count = 0xffffffff;
  words[1].asleep = 3;
  m.a.segment.raise(m.a.segment.at(0), 2);
  header->sleepers = 0;
  CHECK(m.b.segment.have({0, 1}, 2));
}

TEST_CASE("flag segment: memory of another kind is refused") {
  const weft::runtime::doorbell bell(false);
  auto& own = const_cast<weft::runtime::doorbell&>(bell);
  const auto joins = [&](const unique_fd& memory) {
    try {
      const flag_segment one(memory, layout, 0, own);
      return std::string("joined");
    } catch (const error& e) {
      return std::string(e.what());
    }
  };
  CHECK(joins(flag_segment::make(layout)) == "joined");
  for (const flag_layout& other : {flag_layout{2, 4, 100}, {3, 8, 100}, {2, 8, 0}, {2, 8, 99}})
    CHECK(joins(flag_segment::make(other)) != "joined");
  const unique_fd same_size = make_memory_file("other", layout.size());
  CHECK_THAT(joins(same_size), weft::tests::contains("the same version of weft"));
  // Each of the four words that are checked; no other is.
  for (std::size_t word = 0; word != 4; ++word) {
    const unique_fd memory = flag_segment::make(layout);
    static_cast<std::uint32_t*>(map_own(memory, layout.size()).get())[word] += 1;
    CHECK_THAT(joins(memory), weft::tests::contains("the same version of weft"));
  }
  const unique_fd unsealed(::memfd_create("unsealed", MFD_CLOEXEC));
  CHECK(joins(unsealed) != "joined");
  REQUIRE(::ftruncate(unsealed.get(), static_cast<off_t>(layout.size())) == 0);
  CHECK_THAT(joins(unsealed), weft::tests::contains("that it could shrink"));
}
