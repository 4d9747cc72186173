// SPDX-License-Identifier: Apache-2.0
// The receive queue: bounded, with many producers, some of them dead or hostile.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "ends.hpp"
#include "support/catch.hpp"

namespace {

using namespace weft::tests::qdma;
using namespace std::chrono_literals;

struct queue {
  queue()
      : file(weft::runtime::make_memory_file("q", sizeof(qd::queue_memory))),
        mapping(weft::runtime::map_own(file, sizeof(qd::queue_memory))),
        memory(*static_cast<qd::queue_memory*>(mapping.get())),
        progress_file(weft::runtime::make_memory_file("p", sizeof(qd::queue_progress))),
        progress_mapping(weft::runtime::map_own(progress_file, sizeof(qd::queue_progress))),
        progress(*static_cast<qd::queue_progress*>(progress_mapping.get())),
        reader(memory, progress) {}

  qd::queue_writer writer(qd::vpid me = 77) const { return {memory, progress, me}; }
  bool post(std::string_view text, qd::vpid me = 77) const {
    return writer(me).post(bytes_of(text));
  }
  std::string take() {
    const auto m = reader.peek();
    if (!m) {
      reader.publish();
      return "(nothing)";
    }
    std::string text(reinterpret_cast<const char*>(m->bytes.data()), m->bytes.size());
    reader.pop();
    return text;
  }
  /// Posts until the queue is full.
  unsigned fill(qd::vpid me = 77) {
    reader.publish();
    unsigned n = 0;
    for (qd::queue_writer w = writer(me); w.post(bytes_of(std::to_string(n)));) ++n;
    return n;
  }

  weft::unique_fd file;
  weft::runtime::mapping mapping;
  qd::queue_memory& memory;
  weft::unique_fd progress_file;
  weft::runtime::mapping progress_mapping;
  qd::queue_progress& progress;
  qd::queue_reader reader;
};

TEST_CASE("qdma queue: first in, first out, over many laps; full is full", "[qdma]") {
  queue q;
  CHECK(q.take() == "(nothing)");
  for (int lap = 0; lap != 5; ++lap) {
    CHECK(q.fill() == qd::slot_count);
    CHECK_FALSE(q.post("one too many"));
    for (unsigned i = 0; i != qd::slot_count; ++i) REQUIRE(q.take() == std::to_string(i));
    CHECK(q.take() == "(nothing)");
    REQUIRE(q.post("odd"));  // so that laps begin elsewhere
    REQUIRE(q.take() == "odd");
  }
  CHECK(q.reader.put_right() == 0);
}

TEST_CASE("qdma queue: messages of every size, in the first line and beside it", "[qdma]") {
  queue q;
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{qd::head_bytes},
                              std::size_t{qd::head_bytes} + 1, std::size_t{qd::slot_bytes}}) {
    const std::string text(n, static_cast<char>('a' + n % 26));
    REQUIRE(q.post(text));
    CHECK(q.take() == text);
  }
}

TEST_CASE("qdma queue: who wants room is told, until it wants none", "[qdma]") {
  queue q;
  qd::queue_writer w = q.writer(qd::vpid_of(1, 700));
  CHECK(q.fill() == qd::slot_count);
  CHECK_FALSE(w.post(bytes_of("x")));
  CHECK_FALSE(w.may_have_room());
  w.wish_for_room();
  CHECK_FALSE(w.post(bytes_of("x")));
  CHECK(q.take() == "0");
  q.reader.publish();
  std::vector<std::uint32_t> rung;
  const auto ring = [&rung](std::uint32_t index) { rung.push_back(index); };
  q.reader.notify_writable(ring);
  CHECK(rung == std::vector<std::uint32_t>{700});
  CHECK(w.may_have_room());
  CHECK(w.post(bytes_of("x")));
  w.drop_wish();
  rung.clear();
  q.reader.notify_writable(ring);
  CHECK(rung.empty());
  CHECK_FALSE(q.reader.is_wished());
}

TEST_CASE("qdma queue: one producer's messages can be taken past the others'", "[qdma]") {
  queue q;
  for (const char* text : {"a1", "b1", "a2", "b2"}) REQUIRE(q.post(text, text[0] == 'a' ? 5 : 6));
  std::string taken;
  const auto keep = [&taken](const qd::queue_reader::view& v) {
    taken.append(reinterpret_cast<const char*>(v.bytes.data()), v.bytes.size());
  };
  q.reader.take_all_of(6, keep);
  CHECK(taken == "b1b2");
  q.reader.take_all_of(6, keep);
  CHECK(taken == "b1b2");
  CHECK(q.take() == "a1");
  CHECK(q.take() == "a2");
  CHECK(q.take() == "(nothing)");
  REQUIRE(q.post("b3", 6));
  CHECK(q.take() == "b3");
}

TEST_CASE("qdma queue: many producers, nothing is lost or overwritten", "[qdma]") {
  queue q;
  constexpr unsigned producers = 4, each = 20000;
  std::vector<std::thread> threads;
  for (unsigned p = 0; p != producers; ++p)
    threads.emplace_back([&q, p] {
      qd::queue_writer w = q.writer(p + 1);
      for (unsigned i = 0; i != each; ++i)
        while (!w.post(bytes_of(std::to_string(i)))) std::this_thread::yield();
    });
  std::map<qd::vpid, unsigned> next;
  unsigned wrong = 0;
  for (unsigned left = producers * each; left != 0;) {
    const auto m = q.reader.peek();
    if (!m) {
      q.reader.publish();
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
    q.writer(t.claim({3, 4})).claim();
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
  // The slot is usable again.
  CHECK(q.fill(me) == qd::slot_count);
  for (unsigned i = 0; i != qd::slot_count; ++i) REQUIRE(q.take() == std::to_string(i));
}

/// A producer that has taken a slot and was given up, and further steps for it.
struct slow_one {
  slow_one() : slow(contexts.claim({1, 2})), quick(contexts.claim({1, 3})), late(q.writer(slow)) {
    slot = late.claim();
    const auto now = qd::queue_reader::clock::now();
    REQUIRE(q.post("behind it", quick));
    q.reader.look_after(contexts, now);
    q.reader.look_after(contexts, now + 2ms);
    CHECK(q.take() == "(nothing)");
    q.reader.look_after(contexts, now + 2 * qd::queue_reader::patience);
    CHECK(q.take() == "behind it");
  }
  void publish(std::string_view text) {
    std::memcpy(late.room(*slot, text.size()), text.data(), text.size());
    late.publish(*slot, text.size());
  }

  queue q;
  qd::table contexts = qd::table::make();
  qd::vpid slow, quick;
  qd::queue_writer late;
  std::optional<std::uint64_t> slot;
};

TEST_CASE("qdma queue: one that takes too long keeps its slot, and others go on without it",
          "[qdma]") {
  slow_one s;
  for (int lap = 0; lap != 3; ++lap) {
    REQUIRE(s.q.fill(s.quick) == qd::slot_count - 1);
    for (unsigned i = 0; i != qd::slot_count - 1; ++i) REQUIRE(s.q.take() == std::to_string(i));
    CHECK(s.q.take() == "(nothing)");
  }
  // Its message comes, late, and before its later messages; a lap or two later the queue is as
  // before.
  s.publish("late");
  REQUIRE(s.late.post(bytes_of("later")));
  CHECK(s.q.take() == "late");
  CHECK(s.q.take() == "later");
  for (unsigned i = 0; i != 3 * qd::slot_count; ++i) {
    REQUIRE(s.q.post("y", s.quick));
    REQUIRE(s.q.take() == "y");
    if (i % 50 == 0) s.q.reader.publish();
  }
  CHECK(s.q.take() == "(nothing)");
  CHECK(s.q.fill(s.quick) == qd::slot_count);
  CHECK(s.q.reader.put_right() == 0);
}

TEST_CASE("qdma queue: the slot of one that was too slow, and has died, is used again", "[qdma]") {
  slow_one s;
  s.contexts.release(s.slow);
  auto now = qd::queue_reader::clock::now() + 4 * qd::queue_reader::patience;
  for (unsigned i = 0; i != 3 * qd::slot_count; ++i) {
    s.q.reader.look_after(s.contexts, now += 2ms);
    REQUIRE(s.q.post(std::to_string(i), s.quick));
    REQUIRE(s.q.take() == std::to_string(i));
    if (i % 50 == 0) s.q.reader.publish();
  }
  CHECK(s.q.fill(s.quick) == qd::slot_count);
}

TEST_CASE("qdma queue: whatever is written into it, it goes on", "[qdma]") {
  queue q;
  qd::table nobody_lives = qd::table::make();
  auto now = qd::queue_reader::clock::now();
  const auto recovers = [&] {
    // A liar's message in front may be read, or dropped; honest messages come through after it.
    for (unsigned tries = 0; tries != 20 * qd::slot_count; ++tries) {
      q.reader.look_after(nobody_lives, now += 2ms);
      for (unsigned left = qd::slot_count; left != 0 && q.reader.peek(); --left) q.reader.pop();
      q.reader.publish();
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
  q.memory.tail.store(q.progress.head + qd::slot_count);
  CHECK(recovers());
  CHECK(q.reader.put_right() != 0);
  std::uint64_t x = 88172645463325252;
  for (int round = 0; round != 100; ++round) {
    for (unsigned i = 0; i != qd::slot_count; ++i) {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      if (x % 3 != 0) continue;
      const std::uint32_t sequence =
          qd::sequence_of(q.progress.head) + static_cast<std::uint32_t>(x % 4) - 1;
      q.memory.claims[i].store(std::uint64_t{sequence} << 32 | static_cast<std::uint32_t>(x >> 40));
      q.memory.heads[i].sequence.store(sequence + static_cast<std::uint32_t>(x >> 20) % 3 - 1);
      q.memory.heads[i].size = static_cast<std::uint32_t>(x >> 8);
      if (x % 5 == 0) q.memory.tail.store(x % 2 == 0 ? x : q.progress.head + x % 400);
    }
    REQUIRE(recovers());
  }
}

}  // namespace
