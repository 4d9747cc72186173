// SPDX-License-Identifier: Apache-2.0
// One-sided access by qdma: reads and writes of a peer's memory in slices, and processes without
// the right to it.
#include "support/catch.hpp"
#include "support/foreign_memory.hpp"
#include "two.hpp"

namespace {

using namespace weft::tests::qdma;

tr::scatter into(const weft::mutable_buffer& b) { return tr::scatter({&b, 1}); }
tr::gather from(const weft::const_buffer& b) { return tr::gather({&b, 1}); }

constexpr std::size_t large = 5 * qd::transfers::slice + 7;

TEST_CASE("qdma transfers: what is short is copied at once", "[qdma]") {
  if (weft::tests::skipped_without_cma()) return;
  two t;
  const bytes source = pattern(1000, 1);
  bytes target(500);
  const auto where = t.to_left->expose(source);
  REQUIRE(where);
  const weft::mutable_buffer box(target);
  CHECK(t.to_right->get(into(box), {where->region, where->offset + 250}, 500, 1) == tr::post::done);
  CHECK((target == bytes(source.begin() + 250, source.begin() + 750)));
  CHECK(t.at_left.endings.empty());
}

TEST_CASE("qdma transfers: several large ones go on side by side", "[qdma]") {
  if (weft::tests::skipped_without_cma()) return;
  two t;
  const bool write = GENERATE(false, true);
  CAPTURE(write);
  constexpr std::uint64_t several = 3;
  std::vector<bytes> mine(several, bytes(large)), theirs(several, bytes(large));
  std::vector<weft::mutable_buffer> boxes(several);
  std::vector<weft::const_buffer> sources(several);
  for (std::uint64_t i = 0; i != several; ++i) {
    (write ? mine : theirs)[i] = pattern(large, static_cast<unsigned>(i));
    const auto where = write ? t.to_left->expect(theirs[i]) : t.to_left->expose(theirs[i]);
    REQUIRE(where);
    boxes[i] = mine[i];
    sources[i] = mine[i];
    CHECK((write ? t.to_right->put(from(sources[i]), *where, large, i)
                 : t.to_right->get(into(boxes[i]), *where, large, i)) == tr::post::posted);
  }
  // A message does not wait for the transfers.
  REQUIRE(two::send(*t.to_right, pattern(8, 1)) == tr::post::done);
  CHECK(t.left.poll() == several);
  CHECK(t.at_left.endings.empty());
  CHECK(t.left.has_work());
  t.right.poll();
  CHECK(t.at_right.frames.size() == 1);
  for (int i = 0; i != 20; ++i) t.left.poll();
  REQUIRE(t.at_left.endings.size() == several);
  for (const auto& e : t.at_left.endings) CHECK(e.well);
  CHECK((mine == theirs));
  CHECK_FALSE(t.left.has_work());
}

TEST_CASE("qdma transfers: names that were made up, and bounds, and rights", "[qdma]") {
  if (weft::tests::skipped_without_cma()) return;
  two t;
  bytes memory(100), own(200);
  const weft::mutable_buffer box(own);
  const weft::const_buffer source(own);
  const auto readable = t.to_left->expose(memory);
  const auto writable = t.to_left->expect(memory);
  REQUIRE((readable && writable));
  const auto get = [&](tr::remote_address a, std::size_t n) {
    return t.to_right->get(into(box), a, n, 1);
  };
  const auto put = [&](tr::remote_address a, std::size_t n) {
    return t.to_right->put(from(source), a, n, 1);
  };
  CHECK(get(*readable, 100) == tr::post::done);
  CHECK(put(*writable, 100) == tr::post::done);
  CHECK(get(*readable, 101) == tr::post::failed);
  CHECK(put(*writable, 101) == tr::post::failed);
  CHECK(get({readable->region, readable->offset + 50}, 51) == tr::post::failed);
  CHECK(get({readable->region, readable->offset + 0xffffffff}, 2) == tr::post::failed);
  CHECK(put(*readable, 1) == tr::post::failed);
  CHECK(get(*writable, 1) == tr::post::failed);
  const std::uint64_t generation = std::uint64_t{1} << 32;
  CHECK(get({readable->region, readable->offset + generation}, 1) == tr::post::failed);
  for (const int region : {0, 3, 1024, 1025, 65535})
    CHECK(get({static_cast<std::uint16_t>(region), readable->offset}, 1) == tr::post::failed);
  t.to_left->withdraw(*readable);
  CHECK(get(*readable, 1) == tr::post::failed);
  CHECK(put(*writable, 1) == tr::post::done);
  t.to_left->let_go();
  CHECK(put(*writable, 1) == tr::post::failed);
}

TEST_CASE("qdma transfers: what is withdrawn on the way fails, and its memory can be used again",
          "[qdma]") {
  if (weft::tests::skipped_without_cma()) return;
  two t;
  const bool write = GENERATE(false, true);
  bytes mine(large), theirs(large);
  const auto where = write ? t.to_left->expect(theirs) : t.to_left->expose(theirs);
  REQUIRE(where);
  const weft::mutable_buffer box(mine);
  const weft::const_buffer source(mine);
  REQUIRE((write ? t.to_right->put(from(source), *where, large, 9)
                 : t.to_right->get(into(box), *where, large, 9)) == tr::post::posted);
  t.left.poll();
  t.to_left->withdraw(*where);
  const bytes before = theirs;
  for (int i = 0; i != 20; ++i) t.left.poll();
  REQUIRE(t.at_left.endings.size() == 1);
  CHECK(t.at_left.endings[0].cookie == 9);
  CHECK_FALSE(t.at_left.endings[0].well);
  CHECK((theirs == before));
  const auto anew = t.to_left->expose(theirs);
  REQUIRE(anew);
  CHECK(t.to_right->get(into(box), *anew, 10, 1) == tr::post::done);
}

TEST_CASE("qdma transfers: a link that lets go ends its own without a word", "[qdma]") {
  if (weft::tests::skipped_without_cma()) return;
  two t;
  bytes mine(large), theirs(large);
  const auto where = t.to_left->expose(theirs);
  const weft::mutable_buffer box(mine);
  REQUIRE(t.to_right->get(into(box), *where, large, 9) == tr::post::posted);
  t.left.poll();
  t.to_right->let_go();
  CHECK_FALSE(t.left.has_work());
  t.left.poll();
  CHECK(t.at_left.endings.empty());
}

TEST_CASE("qdma transfers: more regions than there are records go another way", "[qdma]") {
  two t;
  const bytes memory(10);
  std::vector<tr::remote_address> all;
  while (const auto where = t.to_left->expose(memory)) all.push_back(*where);
  CHECK(all.size() == qd::region_count);
  for (const tr::remote_address a : all) t.to_left->withdraw(a);
  CHECK(t.to_left->expose(memory));
}

}  // namespace
