// SPDX-License-Identifier: Apache-2.0
// A peer uses one transport at a time for its frames to this side.
#include <array>

#include "far_side.hpp"
#include "runtime/descriptors/memory_file.hpp"

namespace weft::test {

namespace {

using lines = std::vector<std::string>;
constexpr std::uint16_t first = 1, many = 2, second = 3, unknown = 4;

/// Checks that a frame that no correct peer sends has ended the connection, here and on the other
/// side.
void check_cut_off(met& m) {
  const auto [why, text] = m.receives();
  CHECK(why == errc::protocol_error);
  CAPTURE(text);
  CHECK(m.far.ends.next().channel == m.channel);
}

}  // namespace

TEST_CASE(
    "one way in: a peer that cannot use one transport goes on to the next, which replaces it") {
  met m;
  m.offer_of(first);
  CHECK(m.hear().kind == says::answer);
  m.offer_of(second);
  CHECK(m.hear().kind == says::answer);
  CHECK(m.asked.lines() == lines{"accept first0", "forget first", "accept second0"});
}

TEST_CASE("one way in: links of one transport are several, and another transport replaces all") {
  met m;
  for (const auto number : std::array<std::uint8_t, 3>{0, 2, 1}) {
    m.offer_of(many, number, 2);
    CHECK(m.hear().kind == says::answer);
  }
  lines all{"accept many0", "accept many2", "accept many1"};
  CHECK(m.asked.lines() == all);
  m.offer_of(second);
  CHECK(m.hear().kind == says::answer);
  for (const char* next : {"forget many", "forget many", "forget many", "accept second0"})
    all.emplace_back(next);
  CHECK(m.asked.lines() == all);
}

TEST_CASE("one way in: a transport that was refused is no way in") {
  met m;
  m.say(link_parcel(says::offer, first, 0, 0, "x"));
  CHECK(m.hear().kind == says::refusal);
  m.offer_of(second);
  CHECK(m.hear().kind == says::answer);
  CHECK(m.asked.lines() == lines{"accept second0"});
}

TEST_CASE("one way in: who offers what it has offered before is cut off") {
  const bool accepted = GENERATE(true, false);
  met m;
  for (int i = 0; i != 2; ++i) m.say(link_parcel(says::offer, first, 0, 0, accepted ? "" : "x"));
  check_cut_off(m);
  CHECK(m.hear().kind == (accepted ? says::answer : says::refusal));
  CHECK(m.asked.lines() == (accepted ? lines{"accept first0", "forget first"} : lines{}));
}

TEST_CASE("one way in: who goes back to a transport before is cut off") {
  met m;
  m.offer_of(second);
  CHECK(m.hear().kind == says::answer);
  m.offer_of(first);
  check_cut_off(m);
  CHECK(m.asked.lines() == lines{"accept second0", "forget second"});
}

TEST_CASE("one way in: who has sent by one transport has no use for another, and is cut off") {
  met m;
  m.offer_of(first);
  CHECK(m.hear().kind == says::answer);
  {  // A message begins; `more` should follow.
    const runtime::engine::holder hold(*m.engine);
    const transports::frame_header begins{7, 8, 1, transports::has_extension, 0};
    const transports::frame_extension whole{100, 0, 0};
    const std::array<std::byte, 8> payload{};
    REQUIRE(m.stubs[0]->last->on_frame(begins, &whole, payload.data()));
  }
  m.offer_of(second);
  check_cut_off(m);
  CHECK(m.asked.lines() == lines{"accept first0", "forget first"});
}

TEST_CASE("one way in: offers without end cost a bounded number of answers") {
  met m;
  for (std::uint16_t place = 0; place != 5000; ++place) m.offer_of(unknown + place);
  check_cut_off(m);
  int refusals = 0;
  while (!m.far.wireup_messages.empty()) refusals += m.hear().kind == says::refusal;
  CHECK(refusals > 0);
  CHECK(refusals <= 256);
}

TEST_CASE("one way in: an offer without a head, or of a link beyond any number, is none") {
  met m;
  const bool headless = GENERATE(true, false);
  m.say(headless ? wireup::test::make_wireup_message(says::offer, "short")
                 : link_parcel(says::offer, many, 200, 2));
  check_cut_off(m);
  CHECK(m.asked.lines().empty());
}

TEST_CASE("one way in: a wire-up message with a descriptor that is no memory ends its sender") {
  const std::uint8_t kind =
      GENERATE(values<std::uint8_t>({says::offer, says::answer, says::note, 99}));
  met m;
  transports::wireup_message p = link_parcel(kind, first);
  p.fds.push_back(runtime::make_memory_file("some", 4096));
  p.fds.emplace_back(::dup(0));
  m.say(std::move(p));
  check_cut_off(m);
  CHECK(m.asked.lines().empty());
}

}  // namespace weft::test
