// SPDX-License-Identifier: Apache-2.0
// Frames by qdma: of every size, with room that runs out, and from lying senders.
#include "support/catch.hpp"
#include "two.hpp"

namespace {

using namespace weft::tests::qdma;

/// The writer with which a liar can write into another queue.
qd::queue_writer forger(two& t, qd::vpid as) {
  return {t.right.segment().queue(0), t.right.segment().regions().progress_of(0), as};
}

TEST_CASE("qdma frames: every size comes as it was sent", "[qdma]") {
  two t;
  REQUIRE(t.to_right);
  const tr::frame_extension x{11, 12, 0};
  const bool extended = GENERATE(false, true);
  for (const std::size_t size :
       {0u, 1u, 8u, 20u, 21u, 36u, 37u, 2016u, 2017u, 2032u, 2033u, 16384u, 32768u}) {
    const bytes sent = pattern(size, 3);
    REQUIRE(two::send(*t.to_right, sent, 1, extended ? &x : nullptr) == tr::post::done);
    t.right.poll();
    REQUIRE(t.at_right.frames.size() == 1);
    CHECK(t.at_right.frames[0].payload == sent);
    CHECK(t.at_right.frames[0].extension.b == (extended ? 12 : 0));
    t.at_right.frames.clear();
  }
}

TEST_CASE("qdma frames: a gathered payload is taken once, when there is room", "[qdma]") {
  two t;
  const bytes half = pattern(9000, 1);
  const weft::const_buffer parts[] = {half, half};
  const tr::frame_header h{5, 18000, 1, 0, 0};
  unsigned taken = 0;
  tr::post last = tr::post::done;
  while (last == tr::post::done) {
    tr::gather data(parts);
    last = t.to_right->send(h, nullptr, data);
    taken += last == tr::post::done ? 1 : 0;
    CHECK(data.run(1).empty() == (last == tr::post::done));
  }
  CHECK(last == tr::post::busy);
  CHECK(taken >= 7);
  for (int i = 0; i != 100 && t.at_left.rooms == 0; ++i) {
    t.right.poll();
    t.left.poll();
  }
  CHECK(t.at_left.rooms == 1);
  CHECK(t.at_right.frames.size() == taken);
  CHECK(t.at_right.frames.back().payload.size() == 18000);
  tr::gather again(parts);
  CHECK(t.to_right->send(h, nullptr, again) == tr::post::done);
}

TEST_CASE("qdma frames: a full queue is busy, and rings when there is room", "[qdma]") {
  two t;
  const bytes one = pattern(8, 1);
  unsigned sent = 0;
  while (two::send(*t.to_right, one) == tr::post::done) ++sent;
  CHECK(sent == qd::slot_count);
  CHECK_FALSE(t.left.has_work());
  CHECK(t.to_right->unconsumed());
  for (int i = 0; i != 100 && t.at_left.rooms == 0; ++i) {
    t.right.poll();
    t.left.poll();
  }
  CHECK(t.at_left.rooms == 1);
  CHECK(two::send(*t.to_right, one) == tr::post::done);
  for (int i = 0; i != 50; ++i) t.right.poll();
  CHECK(t.at_right.frames.size() == sent + 1);
  CHECK_FALSE(t.to_right->unconsumed());
}

TEST_CASE("qdma frames: what somebody wrote before it was forgotten comes, and nothing after it",
          "[qdma]") {
  two t;
  const bytes one = pattern(100, 1);
  REQUIRE(two::send(*t.to_right, one) == tr::post::done);
  REQUIRE(two::send(*t.to_right, one) == tr::post::done);
  t.right.forget(t.at_right);
  CHECK(t.at_right.frames.size() == 2);
  REQUIRE(two::send(*t.to_right, one) == tr::post::done);
  for (int i = 0; i != 50; ++i) t.right.poll();
  CHECK(t.at_right.frames.size() == 2);
}

TEST_CASE("qdma frames: messages of unknown nodes are dropped", "[qdma]") {
  two t;
  const qd::vpid known = qd::vpid_of(1, 0);
  for (const qd::vpid unknown :
       {qd::vpid{0}, known + qd::entry_count, known + 1, qd::vpid{4711}, ~qd::vpid{0}})
    CHECK(forger(t, unknown).post(pattern(40, 1)));
  t.right.poll();
  CHECK(t.at_right.frames.empty());
  CHECK(t.at_right.breaks == 0);
  REQUIRE(two::send(*t.to_right, pattern(8, 1)) == tr::post::done);
  t.right.poll();
  CHECK(t.at_right.frames.size() == 1);
}

TEST_CASE("qdma frames: a message that is no frame breaks the link, once", "[qdma]") {
  tr::frame_header h{5, 8, 1, 0, 0};
  std::size_t size = sizeof h + 8;
  SECTION("shorter than a header") { size = sizeof h - 1; }
  SECTION("longer than it says") { ++size; }
  SECTION("no extension where one is announced") {
    h.flags = tr::has_extension;
    size = sizeof h;
  }
  SECTION("staged, and longer than a frame can be") {
    h.size = qd::max_payload + 1;
    size = sizeof h;
  }
  SECTION("of no kind") { h.kind = 0; }
  two t;
  bytes message(64);
  std::memcpy(message.data(), &h, sizeof h);
  message.resize(size);
  CHECK(forger(t, qd::vpid_of(1, 0)).post(message));
  CHECK(forger(t, qd::vpid_of(1, 0)).post(message));
  for (int i = 0; i != 4; ++i) t.right.poll();
  CHECK(t.at_right.breaks == 1);
  CHECK(t.at_right.frames.size() <= 1);
}

TEST_CASE("qdma frames: a receiver that has read what was never sent breaks the link", "[qdma]") {
  two t;
  const bytes large = pattern(30000, 1);
  while (two::send(*t.to_right, large) == tr::post::done) {
  }
  t.right.segment().regions().stage_of(0).read.store(std::uint64_t{1} << 40);
  t.left.poll();
  CHECK(t.at_left.breaks == 1);
  CHECK(two::send(*t.to_right, large) == tr::post::failed);
}

TEST_CASE("qdma frames: offers and answers that are not what they say are refused", "[qdma]") {
  two t;
  ear unknown;
  const tr::counterpart who{::getpid(), {}, 0};
  tr::wireup_message offer, answer;
  const std::unique_ptr<tr::link> made = t.left.open(unknown, who, offer);
  std::string what = "nothing";
  SECTION("a descriptor too few") { offer.fds.pop_back(); }
  SECTION("another size") { offer.bytes.resize(3); }
  SECTION("another version") { offer.bytes[4] = std::byte{99}; }
  SECTION("a stage of another size") { offer.fds[0] = weft::runtime::make_memory_file("s", 4096); }
  SECTION("a stage that is no memory file") {
    offer.fds[0] = weft::runtime::duplicate(STDIN_FILENO);
  }
  CHECK_FALSE(t.right.accept(unknown, who, std::move(offer), answer).empty());
  CHECK_FALSE(made->opened({}).empty());
  t.right.forget(unknown);
}

}  // namespace
