// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "proto/select/select.hpp"
#include "support/catch.hpp"

using namespace weft::proto;

namespace {
constexpr std::size_t eager_most = 64 * 1024;
constexpr std::int64_t plenty = 1 << 20;
constexpr weft::transports::traits shm_like{
    .name = "any", .max_payload = 32 * 1024, .fragment = 16 * 1024};
}  // namespace

TEST_CASE("many peers share the budget, and small messages still need no handshake") {
  constexpr std::int64_t budget = (64 << 20) / credit_unit;
  std::int64_t left = budget;
  for (int peers = 0; peers != 1000; ++peers) {
    const std::uint32_t granted = first_grant(budget, left);
    left -= granted;
    CAPTURE(peers, granted, left);
    REQUIRE(left >= 0);
    CHECK_FALSE(plan_send(8, eager_most, granted).rendezvous);
  }
  CHECK(first_grant(budget, budget) == first_window);
  CHECK(first_grant(100, 100) == 100);
  CHECK(first_grant(100, 0) == smallest_grant);
  CHECK(first_grant(100, -50) == smallest_grant);
}

TEST_CASE("a message up to the eager limit goes whole, a longer one asks") {
  CHECK_FALSE(plan_send(0, eager_most, plenty).rendezvous);
  CHECK_FALSE(plan_send(eager_most, eager_most, plenty).rendezvous);
  CHECK(plan_send(eager_most, eager_most, plenty).eager_end == eager_most);
  CHECK(plan_send(eager_most + 1, eager_most, plenty).rendezvous);
  CHECK(plan_send(eager_most + 1, eager_most, plenty).eager_end == eager_most);
  CHECK(plan_send(eager_most + 1, eager_most, plenty, 100).eager_end == 100);
  CHECK(plan_send(eager_most + 1, eager_most, plenty, 0).eager_end == 0);
  CHECK(plan_send(eager_most + 1, eager_most, plenty, eager_most + 1).eager_end == eager_most);
  CHECK(plan_send(eager_most, eager_most, plenty, eager_most).eager_end == eager_most);
}

TEST_CASE("no plan spends more credit than there is") {
  for (std::int64_t credit = message_units; credit != 2000; ++credit)
    for (const std::size_t size :
         {0ul, 1ul, 63ul, 64ul, 65ul, 4096ul, eager_most, 10 * eager_most}) {
      const send_plan p = plan_send(size, eager_most, credit);
      CAPTURE(credit, size, p.eager_end);
      REQUIRE(p.eager_end <= size);
      REQUIRE(units_of(p.eager_end) <= credit);
      if (!p.rendezvous) REQUIRE(p.eager_end == size);
    }
}

TEST_CASE("without credit only the header goes") {
  const send_plan p = plan_send(8, eager_most, 1);
  CHECK(p.rendezvous);
  CHECK(p.eager_end == 0);
}

TEST_CASE("pieces cover a message, are whole units but for the last, and never too long") {
  for (const std::uint32_t fragment : {64u, 1000u, 2048u, 16u * 1024, 32u * 1024}) {
    const weft::transports::traits t{.name = "any", .max_payload = fragment, .fragment = fragment};
    for (const std::size_t size : {1ul, one_frame, one_frame + 1, 5000ul, 65536ul, 1000001ul}) {
      std::size_t sent = 0;
      while (sent != size) {
        const std::uint32_t n = next_piece(t, sent, size - sent);
        CAPTURE(fragment, size, sent, n);
        REQUIRE(n != 0);
        REQUIRE(n <= fragment);
        sent += n;
        REQUIRE(sent <= size);
        if (sent != size) REQUIRE(n % credit_unit == 0);
      }
    }
  }
  CHECK(next_piece(shm_like, 0, one_frame) == one_frame);
}

TEST_CASE("an explanation names the way and the eager_most that chose it") {
  const explanation whole = explain_send(8, eager_most, first_window, shm_like);
  CHECK(whole.way == "at once, in one frame");
  const explanation asks = explain_send(1 << 20, eager_most, first_window, shm_like);
  CHECK(asks.way.find("rendezvous") == 0);
  CHECK(asks.why.find("65536") != std::string::npos);
  const explanation dry = explain_send(8, eager_most, 1, shm_like);
  CHECK(dry.way.find("its header at once") != std::string::npos);
  CHECK(dry.why.find("granted") != std::string::npos);
}

TEST_CASE("select: fragments go where they are there first") {
  const auto link = [](std::uint64_t in_flight, double rate, bool free = true) {
    return link_load{true, free, in_flight, rate};
  };
  const auto pick = [](std::vector<link_load> all, std::uint64_t left) {
    return pick_link(all, 100, left);
  };
  CHECK(pick({link(0, 10), link(0, 10)}, 1000) == 0);
  CHECK(pick({link(100, 10), link(0, 10)}, 1000) == 1);
  CHECK(pick({link(300, 100), link(0, 10)}, 1000) == 0);
  // The fast link is full. The slow one may carry much, but not the last piece.
  CHECK(pick({link(300, 100, false), link(0, 10)}, 1000) == 1);
  CHECK(pick({link(300, 100, false), link(0, 10)}, 100) == no_link);
  // No frame waits for a busy link when another one is free.
  CHECK(pick({link(0, 39), link(0, 44), link(0, 11)}, 100) == 1);
  // Links without a measured rate are tried, with two fragments.
  CHECK(pick({link(100, 10), link(0, 0)}, 1000) == 1);
  CHECK(pick({link(1000, 10), link(200, 0)}, 1000) == 0);
  CHECK(pick({link(200, 0), link(200, 0)}, 1000) == no_link);
  // A dead link is not waited for, nor one that has never carried anything.
  CHECK(pick({{false, false, 0, 1000}, link(100, 1)}, 100) == 1);
  CHECK(pick({link(0, 0, false), link(100, 1)}, 100) == 1);
  CHECK(pick({}, 100) == no_link);
}
