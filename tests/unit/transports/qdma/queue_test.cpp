// SPDX-License-Identifier: Apache-2.0
// The receive queue: bounded, many producers, the dead and the hostile among them.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <map>
#include <thread>
#include <vector>

#include "ends.hpp"

namespace {

using namespace weft::tests::qdma;
using namespace std::chrono_literals;

struct queue {
  queue()
      : file(weft::runtime::make_memory_file("q", sizeof(qd::queue_memory))),
        mapping(weft::runtime::map_own(file, sizeof(qd::queue_memory))),
        memory(*static_cast<qd::queue_memory*>(mapping.get())),
        reader(memory) {}

  bool post(std::string_view text, qd::vpid me = 77) {
    const auto at = qd::claim_slot(memory, me);
    return at && qd::fill_slot(memory, *at, me, bytes_of(text));
  }
  std::string take() {
    const auto m = reader.peek();
    if (!m) return "(nothing)";
    std::string text(reinterpret_cast<const char*>(m->bytes.data()), m->bytes.size());
    reader.pop();
    return text;
  }

  weft::runtime::unique_fd file;
  weft::runtime::mapping mapping;
  qd::queue_memory& memory;
  qd::queue_reader reader;
};

TEST_CASE("qdma queue: first in, first out, over many laps; full is full", "[qdma]") {
  queue q;
  CHECK(q.take() == "(nothing)");
  for (int lap = 0; lap != 5; ++lap) {
    for (unsigned i = 0; i != qd::slot_count; ++i) REQUIRE(q.post(std::to_string(i)));
    CHECK_FALSE(q.post("one too many"));
    for (unsigned i = 0; i != qd::slot_count; ++i) REQUIRE(q.take() == std::to_string(i));
    CHECK(q.take() == "(nothing)");
    REQUIRE(q.post("odd"));  // so that laps begin elsewhere
    REQUIRE(q.take() == "odd");
  }
  CHECK(q.reader.put_right() == 0);
}

TEST_CASE("qdma queue: many producers, nothing is lost or overwritten", "[qdma]") {
  queue q;
  constexpr unsigned producers = 4, each = 20000;
  std::vector<std::thread> threads;
  for (unsigned p = 0; p != producers; ++p)
    threads.emplace_back([&q, p] {
      for (unsigned i = 0; i != each; ++i)
        while (!q.post(std::to_string(i), p + 1)) std::this_thread::yield();
    });
  std::map<qd::vpid, unsigned> next;
  unsigned wrong = 0;
  for (unsigned left = producers * each; left != 0;) {
    const auto m = q.reader.peek();
    if (!m) {
      std::this_thread::yield();
      continue;
    }
    const std::string text(reinterpret_cast<const char*>(m->bytes.data()), m->bytes.size());
    wrong += text == std::to_string(next[m->from]++) ? 0 : 1;
    q.reader.pop();
    --left;
  }
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(q.reader.put_right() == 0);
}

TEST_CASE("qdma queue: a producer that dies with a slot in its hand holds nobody up", "[qdma]") {
  queue q;
  qd::table t = qd::table::make();
  const qd::vpid me = t.claim({1, 2});
  const pid_t child = ::fork();
  if (child == 0) {
    // Claimed, and never filled.
    qd::claim_slot(q.memory, t.claim({3, 4}));
    ::kill(::getpid(), SIGKILL);
  }
  REQUIRE(child > 0);
  ::waitpid(child, nullptr, 0);
  REQUIRE(q.post("behind it", me));
  CHECK(q.take() == "(nothing)");
  CHECK(q.reader.held_up());
  const auto now = qd::queue_reader::clock::now();
  q.reader.look_after(t, now);
  q.reader.look_after(t, now + 2ms);
  CHECK(q.take() == "behind it");
  // The slot is as good as the others.
  for (unsigned i = 0; i != qd::slot_count; ++i) REQUIRE(q.post("x", me));
  CHECK_FALSE(q.post("x", me));
}

TEST_CASE("qdma queue: one that takes too long loses its slot for a while, and no message",
          "[qdma]") {
  queue q;
  qd::table t = qd::table::make();
  const qd::vpid slow = t.claim({1, 2}), quick = t.claim({1, 3});
  const auto slot = qd::claim_slot(q.memory, slow);
  REQUIRE(slot);
  REQUIRE(q.post("behind it", quick));
  const auto now = qd::queue_reader::clock::now();
  q.reader.look_after(t, now);
  q.reader.look_after(t, now + 2ms);
  CHECK(q.take() == "(nothing)");
  q.reader.look_after(t, now + 2 * qd::queue_reader::patience);
  CHECK(q.take() == "behind it");
  for (int lap = 0; lap != 3; ++lap) {
    unsigned n = 0;
    while (q.post(std::to_string(n), quick)) ++n;
    CHECK(n == qd::slot_count - 1);
    for (unsigned i = 0; i != n; ++i) REQUIRE(q.take() == std::to_string(i));
    CHECK(q.take() == "(nothing)");
  }
  // It is told, posts again, and the slot is in use again after a lap.
  CHECK_FALSE(qd::fill_slot(q.memory, *slot, slow, bytes_of("late")));
  REQUIRE(q.post("late", slow));
  CHECK(q.take() == "late");
  for (unsigned i = 0; i != 2 * qd::slot_count; ++i) {
    REQUIRE(q.post("y", quick));
    REQUIRE(q.take() == "y");
  }
  unsigned n = 0;
  while (q.post("z", quick)) ++n;
  CHECK(n == qd::slot_count);
}

TEST_CASE("qdma queue: a withheld slot that producers have passed twice is not waited for",
          "[qdma]") {
  queue q;
  qd::table t = qd::table::make();
  const qd::vpid slow = t.claim({1, 2}), quick = t.claim({1, 3});
  const auto slot = qd::claim_slot(q.memory, slow);
  const auto now = qd::queue_reader::clock::now();
  q.reader.look_after(t, now);
  q.reader.look_after(t, now + 2 * qd::queue_reader::patience);
  unsigned n = 0;
  while (q.post(std::to_string(n), quick)) ++n;  // the tail passes the slot again
  CHECK(n == qd::slot_count - 1);
  CHECK_FALSE(qd::fill_slot(q.memory, *slot, slow, bytes_of("late")));
  for (unsigned i = 0; i != n; ++i) REQUIRE(q.take() == std::to_string(i));
  for (unsigned i = 0; i != 3 * qd::slot_count; ++i) {
    REQUIRE(q.post(std::to_string(i), quick));
    REQUIRE(q.take() == std::to_string(i));
  }
}

TEST_CASE("qdma queue: whatever is written into it, it goes on", "[qdma]") {
  queue q;
  const auto recovers = [&q] {
    // What a liar has put in front may be read, or dropped; honest messages come through after it.
    for (unsigned tries = 0; tries != 4 * qd::slot_count; ++tries) {
      while (q.reader.peek()) q.reader.pop();
      if (!q.post("honest")) continue;
      for (unsigned looks = 0; looks != 2 * qd::slot_count; ++looks)
        if (q.take() == "honest") return true;
    }
    return false;
  };
  q.memory.tail.store(~std::uint64_t{0});
  CHECK(recovers());
  q.memory.tail.store(1u << 30);
  CHECK(recovers());
  std::uint64_t x = 88172645463325252;
  qd::table t = qd::table::make();
  for (int round = 0; round != 200; ++round) {
    for (qd::slot& s : q.memory.slots) {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      if (x % 3 != 0) continue;
      qd::slot_word w = qd::slot_word::unpack(x * 2654435761u);
      if (w.state == qd::slot_state::withheld) w.producer = 0;
      s.word.store(w.packed());
      s.size = static_cast<std::uint32_t>(x);
      if (x % 5 == 0) q.memory.tail.store(x);
    }
    auto now = qd::queue_reader::clock::now();
    bool good = false;
    for (int tries = 0; tries != 200 && !good; ++tries, now += 2ms) {
      q.reader.look_after(t, now);
      good = recovers();
    }
    REQUIRE(good);
  }
  CHECK(q.reader.put_right() != 0);
}

}  // namespace
