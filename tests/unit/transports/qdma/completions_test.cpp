// SPDX-License-Identifier: Apache-2.0
// How the end of a copy is reported: on this side, by a queue or without one, and on the other
// side, by a chained frame.

#include <thread>

#include "support/catch.hpp"
#include "support/foreign_memory.hpp"
#include "two.hpp"

namespace {

using namespace weft::tests::qdma;
using weft::copy_completion;

constexpr std::size_t some_slices = 3 * qd::transfers::slice + 7;
constexpr std::uint8_t told = 9;  // the kind of the chained frame

copy_completion any_way() {
  return GENERATE(copy_completion::direct, copy_completion::one_queue, copy_completion::two_queues);
}

/// One copy from left to right, or back.
struct copy {
  two& t;
  const bool write;
  bytes mine, theirs;
  const weft::mutable_buffer box;
  const weft::const_buffer source;

  copy(two& at, bool to_there, std::size_t size)
      : t(at),
        write(to_there),
        mine(to_there ? pattern(size, 3) : bytes(size)),
        theirs(to_there ? bytes(size) : pattern(size, 3)),
        box(mine),
        source(mine) {}

  tr::post start(std::uint64_t cookie) {
    where = write ? t.to_left->expect(theirs) : t.to_left->expose(theirs);
    return write ? t.to_right->put(tr::gather({&source, 1}), *where, mine.size(), cookie)
                 : t.to_right->get(tr::scatter({&box, 1}), *where, mine.size(), cookie);
  }
  bool chain(std::uint64_t cookie) {
    return t.to_right->chain(cookie, {0, 0, told, tr::has_extension, 0}, {11, 12, 0});
  }
  std::optional<tr::remote_address> where;
};

void look(qd::qdma_transport& t, int times) {
  for (int i = 0; i != times; ++i) t.poll();
}

TEST_CASE("qdma completions: a chained frame leaves behind the last byte", "[qdma]") {
  if (weft::tests::skipped_without_cma()) return;
  two t{any_way()};
  copy c(t, GENERATE(false, true), some_slices);
  CAPTURE(static_cast<int>(t.ends), c.write);
  REQUIRE(c.start(5) == tr::post::posted);
  CHECK_FALSE(c.chain(6));
  CHECK(c.chain(5));
  t.left.poll();
  t.right.poll();
  CHECK(t.at_right.frames.empty());
  look(t.left, 20);
  t.right.poll();
  CHECK((c.mine == c.theirs));
  REQUIRE(t.at_right.frames.size() == 1);
  CHECK(t.at_right.frames[0].header.kind == told);
  CHECK(t.at_right.frames[0].extension.a == 11);
  REQUIRE(t.at_left.endings.size() == 1);
  CHECK(t.at_left.endings[0].well);
  CHECK(t.at_left.endings[0].chained);
  CHECK_FALSE(t.left.has_work());
}

TEST_CASE("qdma completions: a copy that fails tells nobody else", "[qdma]") {
  two t{any_way()};
  copy c(t, GENERATE(false, true), some_slices);
  REQUIRE(c.start(5) == tr::post::posted);
  REQUIRE(c.chain(5));
  t.left.poll();
  t.to_left->withdraw(*c.where);
  look(t.left, 20);
  look(t.right, 2);
  CHECK(t.at_right.frames.empty());
  REQUIRE(t.at_left.endings.size() == 1);
  CHECK_FALSE(t.at_left.endings[0].well);
  CHECK_FALSE(t.at_left.endings[0].chained);
}

TEST_CASE("qdma completions: a chained frame that finds no room is left to whoever chained it",
          "[qdma]") {
  if (weft::tests::skipped_without_cma()) return;
  two t{any_way()};
  copy c(t, true, some_slices);
  REQUIRE(c.start(5) == tr::post::posted);
  REQUIRE(c.chain(5));
  while (two::send(*t.to_right, pattern(8, 1)) == tr::post::done) {
  }
  look(t.left, 20);
  REQUIRE(t.at_left.endings.size() == 1);
  CHECK(t.at_left.endings[0].well);
  CHECK_FALSE(t.at_left.endings[0].chained);
  look(t.right, 20);
  for (const auto& f : t.at_right.frames) CHECK(f.header.kind != told);
}

TEST_CASE("qdma completions: in one queue they keep their place among messages", "[qdma]") {
  if (weft::tests::skipped_without_cma()) return;
  two t{GENERATE(copy_completion::one_queue, copy_completion::two_queues)};
  const bool one = t.ends == copy_completion::one_queue;
  copy c(t, false, 100);
  // A short copy is reported by its message, too.
  REQUIRE(c.start(5) == tr::post::posted);
  REQUIRE(t.left.poll() == 1);
  CHECK((c.mine == c.theirs));
  CHECK(t.at_left.endings.empty());
  CHECK(t.left.has_work());
  // After its message.
  for (int i = 0; i != 3; ++i) REQUIRE(two::send(*t.to_left, pattern(8, 1)) == tr::post::done);
  t.left.poll();
  REQUIRE(t.at_left.endings.size() == 1);
  CHECK(t.at_left.endings[0].frames_yet == 0);
  CHECK(t.at_left.frames.size() == 3);
  // Before its message.
  REQUIRE(c.start(6) == tr::post::posted);
  for (int i = 0; i != 100; ++i) REQUIRE(two::send(*t.to_left, pattern(8, 1)) == tr::post::done);
  t.left.poll();
  look(t.left, 3);
  REQUIRE(t.at_left.endings.size() == 2);
  CHECK(t.at_left.endings[1].frames_yet == (one ? 103 : 67));
  CHECK_FALSE(t.left.has_work());
}

TEST_CASE("qdma completions: where a queue has no room they come when it has", "[qdma]") {
  if (weft::tests::skipped_without_cma()) return;
  two t{copy_completion::one_queue};
  std::vector<std::unique_ptr<copy>> all;
  for (std::uint64_t i = 1; i != 4; ++i) {
    all.push_back(std::make_unique<copy>(t, false, some_slices));
    REQUIRE(all.back()->start(i) == tr::post::posted);
    REQUIRE(all.back()->chain(i));
  }
  while (two::send(*t.to_left, pattern(8, 1)) == tr::post::done) {
  }
  const std::size_t full = qd::slot_count;
  for (int i = 0; i != 50 && t.at_left.endings.size() != 3; ++i) {
    while (t.at_left.frames.size() < full && two::send(*t.to_left, {}) == tr::post::done) {
    }
    t.left.poll();
  }
  REQUIRE(t.at_left.endings.size() == 3);
  for (std::uint64_t i = 1; i != 4; ++i) {
    CHECK(t.at_left.endings[i - 1].cookie == i);
    CHECK((all[i - 1]->mine == all[i - 1]->theirs));
  }
  CHECK_FALSE(t.left.has_work());
}

TEST_CASE("qdma completions: a liar in the queue cannot take them away, nor make them", "[qdma]") {
  if (weft::tests::skipped_without_cma()) return;
  two t{copy_completion::one_queue};
  copy c(t, false, 100);
  const int lie = GENERATE(0, 1, 2);
  CAPTURE(lie);
  REQUIRE(c.start(5) == tr::post::posted);
  qd::queue_memory& q = t.left.segment().queue(0);
  qd::queue_progress& p = t.left.segment().regions().progress_of(0);
  if (lie == 2) {
    // Messages of no valid sender, before any copy has ended.
    qd::queue_writer liar(q, p, qd::completions::own);
    for (int i = 0; i != 3; ++i) REQUIRE(liar.post({}));
    t.to_left->withdraw(*c.where);
  }
  REQUIRE(t.left.poll() != 0);
  CHECK(t.at_left.endings.empty());
  if (lie == 0) q.heads[0].size = 1u << 30;
  if (lie == 1) q.heads[0].sequence.store(77);
  using namespace std::chrono_literals;
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (t.at_left.endings.empty() && std::chrono::steady_clock::now() < limit) t.left.poll();
  REQUIRE(t.at_left.endings.size() == 1);
  CHECK(t.at_left.endings[0].well == (lie != 2));
}

TEST_CASE("qdma completions: what has ended is told of before the peer is forgotten", "[qdma]") {
  if (weft::tests::skipped_without_cma()) return;
  two t{any_way()};
  copy c(t, GENERATE(false, true), 100), other(t, true, 100);
  const tr::post answer = c.start(5);
  t.left.poll();
  if (t.ends == copy_completion::direct) {
    CHECK(answer == tr::post::done);
    return;
  }
  CHECK(t.at_left.endings.empty());
  t.left.forget(t.at_left);
  REQUIRE(t.at_left.endings.size() == 1);
  CHECK(t.at_left.endings[0].well);
  // A link that is destroyed ends its copies without reports.
  REQUIRE(other.start(6) == tr::post::posted);
  t.left.poll();
  t.to_right->let_go();
  look(t.left, 3);
  CHECK(t.at_left.endings.size() == 1);
  CHECK_FALSE(t.left.has_work());
}

}  // namespace
