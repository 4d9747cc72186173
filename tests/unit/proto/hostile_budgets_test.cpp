// SPDX-License-Identifier: Apache-2.0
// The memory that a peer can make this side use, and the limits at which the peer is cut off; and
// that no single call does unbounded work for a peer. docs/reliability.md, "Budgets".
#include <array>
#include <set>

#include "hostile_frame_sink.hpp"
#include "proto/rma/rma.hpp"
#include "proto/select/select.hpp"

using namespace net;
using weft::proto::access_ends;
using weft::proto::eager_ends;
using weft::proto::frame_extension;
using weft::proto::frame_kind;
using weft::proto::header_of;
using weft::proto::inbound_message;
using weft::proto::starved;
using weft::transports::has_extension;

namespace {

bool taken_back(frame_sink_attack& a, std::uint64_t id) {
  return a.frame(frame_kind::rts, 0, eager_ends, {numbered(id), 0}) &&
         a.frame(frame_kind::cancel, 0, 0, {id, 0});
}

std::uint32_t usable(const peer& p) {
  const weft::proto::frame_writer::balance b = p.writer().credit_state();
  return b.window - b.in_use - b.to_return;
}

}  // namespace

TEST_CASE("hostile: credit that was not told is not there") {
  frame_sink_attack a;
  a.n.links_allowed = false;  // nothing can be sent to the peer
  const std::uint32_t granted = usable(a.villain());
  std::uint32_t taken = 0;
  while (taken <= granted && taken_back(a, 1)) ++taken;
  CHECK(taken <= granted);
  CHECK(taken >= granted / weft::proto::units_of(0) - 1);
  CHECK(a.villain().why() == errc::protocol_error);
}

TEST_CASE("hostile: answers that nobody reads are bounded", "[many]") {
  frame_sink_attack a;
  a.swallow(0);
  std::uint32_t taken = 0, credit = 0;  // counted here: the peer counts all waiting frames
  while (taken < 2 * weft::proto::most_unsent_answers) {
    if (credit < weft::proto::units_of(0)) credit = usable(a.villain());
    if (credit < weft::proto::units_of(0)) {
      a.swallow(1);  // one frame of many is read, and returns all credit
      credit = usable(a.villain());
    }
    if (!taken_back(a, 1 + taken % 65'535)) break;
    credit -= std::min(credit, weft::proto::units_of(0));
    ++taken;
  }
  CHECK(taken >= weft::proto::most_unsent_answers);
  CHECK(taken < weft::proto::most_unsent_answers + 1000);
  a.n.settle();
  CHECK(a.villain().why() == errc::protocol_error);
  a.n[0].end();
  CHECK(a.n[0].clean());
}

TEST_CASE("hostile: a number has one message at a time, and who waits for an answer has one") {
  frame_sink_attack a;
  SECTION("twice unexpected") {
    REQUIRE(a.frame(frame_kind::rts, 0, eager_ends, {numbered(7), 0}));
    CHECK_FALSE(a.frame(frame_kind::rts, 0, eager_ends, {numbered(7), 0}));
  }
  SECTION("twice, one of them received") {
    bytes in(100);
    auto receive = a.n[0].recv(2, in, tag{5});
    REQUIRE(a.frame(frame_kind::rts, 0, eager_ends, {numbered(7, 100), 0}));
    CHECK_FALSE(a.frame(frame_kind::eager, 1, eager_ends, {1, 7}));
    a.n.settle();
    CHECK(receive->ended_with(errc::protocol_error));
  }
  SECTION("none") { CHECK_FALSE(a.frame(frame_kind::rts, 0, eager_ends, {numbered(0), 0})); }
  CHECK(a.villain().why() == errc::protocol_error);
}

TEST_CASE("cancel: whichever of thousands is meant, and none that is not there") {
  frame_sink_attack a;
  constexpr std::uint64_t count = 600;
  for (std::uint64_t i = 1; i <= count; ++i)
    REQUIRE(a.frame(frame_kind::rts, 0, eager_ends, {numbered(i * 109), 0}));
  for (std::uint64_t i = count; i != 0; --i) {
    REQUIRE(a.frame(frame_kind::cancel, 0, 0, {i * 109, 0}));
    REQUIRE(a.frame(frame_kind::cancel, 0, 0, {i * 109 - 1, 0}));
    REQUIRE(a.frame(frame_kind::cancel, 0, 0, {i * 109 | 1ull << 40, 0}));
    REQUIRE(a.n[0].messages.messages().in_use() == i - 1);
  }
  a.n.settle();
  CHECK_FALSE(a.villain().has_ended());
  CHECK(a.n[0].clean());
}

TEST_CASE("budgets: of a peer that has gone, messages are let go of bit by bit") {
  frame_sink_attack a;
  constexpr std::uint64_t count = 900;
  const std::uint32_t all = a.n[0].budget_left() + usable(a.villain());
  for (std::uint64_t i = 1; i <= count; ++i) {
    REQUIRE(a.frame(header_of(frame_kind::rts, i, 0, has_extension | eager_ends),
                    std::array{frame_extension{numbered(i), 0}}.data()));
    if (i == 500) REQUIRE(a.frame(header_of(frame_kind::eager, 5, 1, eager_ends), nullptr));
  }
  a.n.world.kill(2);
  peer& gone = a.villain();
  {
    const engine::holder hold(a.n[0].engine);
    gone.give_up(errc::peer_lost, "gone");
  }
  CHECK(a.n[0].messages.messages().in_use() > count / 2);
  CHECK_FALSE(gone.is_reusable());
  // A message that is matched before it was freed ends as if it had been matched earlier.
  bytes in(10);
  auto early = a.n[0].recv_any(in, weft::any_tag);
  a.n[0].engine.poll_once();
  CHECK(early->ended_with(errc::peer_lost));
  CHECK(a.n[0].messages.messages().in_use() > 100);
  a.n.settle();
  CHECK(a.n[0].messages.messages().in_use() == 1);
  auto whole = a.n[0].recv_any(in, weft::any_tag);
  a.n.settle();
  CHECK(whole->ended_with(errc::ok));
  CHECK(a.n[0].budget_left() == all);
  CHECK(a.n[0].clean());
}

TEST_CASE("hostile: memory for what never comes goes back, and all that is kept is counted") {
  constexpr std::size_t budget = 1u << 20;
  frame_sink_attack a({}, {budget, 64u << 10});
  const weft::metrics& counts = a.n[0].messages.counts();
  const std::uint32_t window = usable(a.villain());
  std::uint64_t begun = 0;
  while (usable(a.villain()) >= weft::proto::units_of(0)) {
    ++begun;
    const std::uint64_t before = counts.unexpected_bytes_now;
    REQUIRE(a.frame(frame_kind::rts, 0, 0, {numbered(begun, 1ull << 40), 0}));
    CHECK(counts.unexpected_bytes_now <= std::uint64_t{window} * weft::proto::credit_unit);
    const bool some = begun % 2 != 0 && usable(a.villain()) > 2;
    REQUIRE(a.frame(a.head(frame_kind::more, some ? 70 : 0, eager_ends), nullptr));
    CHECK(counts.unexpected_bytes_now - before == sizeof(inbound_message) + (some ? 70 : 0));
  }
  CHECK(begun > 1000);
  CHECK(counts.unexpected_bytes_now >= begun * sizeof(inbound_message));
  CHECK(counts.unexpected_bytes_peak <= budget);
  a.n[0].end();
  CHECK(a.n[0].clean());
}

TEST_CASE("hostile: whoever guesses keys of regions is cut off") {
  frame_sink_attack a;
  a.swallow(1u << 20);
  bytes memory(64);
  const std::uint64_t key = a.n[0].messages.regions().add(memory, weft::rights::read_write);
  const auto how = GENERATE(frame_kind::put, frame_kind::get, frame_kind::update);
  const auto flags = static_cast<std::uint8_t>(how == frame_kind::put ? access_ends : 0);
  std::uint32_t wrong = 0;
  for (; wrong <= 2 * weft::proto::most_wrong_keys; ++wrong) {
    const frame_extension x{numbered(1, 0), 0};
    if (!a.frame(header_of(how, key ^ (wrong + 1), 0, flags | has_extension), &x)) break;
  }
  CHECK(wrong == weft::proto::most_wrong_keys);
  CHECK(a.villain().why() == errc::protocol_error);
  a.n[0].messages.regions().end(key);
}

TEST_CASE("hostile: puts that were refused and never end are as many as may be under way") {
  frame_sink_attack a;
  std::size_t begun = 0;
  for (; begun != 3 * weft::proto::most_outstanding_rma; ++begun) {
    const frame_extension x{numbered(begun + 1, 0), 100};
    if (!a.frame(header_of(frame_kind::put, 77, 10, has_extension), &x)) break;
  }
  CHECK(begun == weft::proto::most_outstanding_rma);
  CHECK(a.villain().why() == errc::protocol_error);
}

TEST_CASE("regions: a key that was told names no other region, and is all chance") {
  nodes n(1);
  bytes memory(64);
  std::set<std::uint64_t> told;
  std::uint64_t ones = 0, zeros = 0;
  for (int i = 0; i != 200; ++i) {
    const std::uint64_t key = n[0].messages.regions().add(memory, weft::rights::read);
    CHECK(told.insert(key).second);
    ones |= key;
    zeros |= ~key;
    n[0].messages.regions().end(key);
  }
  CHECK(ones == ~std::uint64_t{0});
  CHECK(zeros == ~std::uint64_t{0});
}

TEST_CASE("hostile: what was announced and did not come is given back when the beginning ends") {
  frame_sink_attack a;
  const auto kept = [&] { return a.n[0].messages.snapshot().unexpected_bytes_now; };
  REQUIRE(a.frame(frame_kind::rts, 0, 0, {numbered(1, 1ull << 40), 0}));
  const std::size_t itself = sizeof(weft::proto::inbound_message);  // all of its memory
  CHECK(kept() > itself);
  REQUIRE(a.frame(a.head(frame_kind::more, 0, eager_ends), nullptr));
  CHECK(kept() == itself);
  a.n[0].end();
  CHECK(a.n[0].clean());
}
