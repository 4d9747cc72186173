// SPDX-License-Identifier: Apache-2.0
// Credit and the unexpected budget.
#include <algorithm>
#include <numeric>

#include "net.hpp"
#include "proto/select/select.hpp"

using namespace net;
using weft::any_tag;

namespace {

constexpr std::size_t eager_limit = 64u << 10;

/// The bytes of unexpected messages that each peer may send beyond any budget: the last credit is
/// for answers, which are never unexpected.
constexpr std::size_t beyond =
    (weft::proto::smallest_grant - weft::proto::answer_units) * weft::proto::credit_unit;

/// Sends of these sizes from one node to another, none of them received yet.
struct burst {
  std::vector<bytes> data;
  std::vector<std::shared_ptr<sending>> sends;

  burst(nodes& n, fake::node from, const std::vector<std::size_t>& sizes, fake::node to = 0) {
    data.reserve(sizes.size());
    for (const std::size_t size : sizes) {
      data.push_back(pattern(size, size + data.size()));
      sends.push_back(n[from].send(to, data.back(), tag{data.size()}));
    }
  }
  std::size_t ended() const {
    return static_cast<std::size_t>(
        std::count_if(sends.begin(), sends.end(), [](const auto& s) { return s->ended(); }));
  }
  /// Receives all of them at node 0, in the order sent: later ones may still be at the sender.
  void receive(nodes& n, fake::node from) {
    for (std::size_t i = 0; i != data.size(); ++i) {
      bytes in(data[i].size());
      auto op = n[0].recv(from, in, tag{i + 1});
      n.settle();
      REQUIRE(op->ended_with(errc::ok));
      CHECK((in == data[i]));
    }
    CHECK(ended() == sends.size());
  }
};

std::vector<std::size_t> many(std::size_t count, std::size_t size) {
  return std::vector<std::size_t>(count, size);
}

}  // namespace

TEST_CASE("credits: what is unexpected stays within the budget") {
  const std::size_t budget = GENERATE(0u, 1000u, 40'000u, 262'144u, 1u << 20);
  const std::size_t size = GENERATE(1u, 64u, 3000u, 50'000u, 1'000'000u);
  CAPTURE(budget, size);
  nodes n(3, {}, {budget, eager_limit});
  burst first(n, 1, many(40, size));
  burst second(n, 2, many(40, size));
  n.settle();
  CHECK(n[0].messages.snapshot().unexpected_bytes_now <= budget + 2 * beyond);
  first.receive(n, 1);
  second.receive(n, 2);
  CHECK(n[0].messages.snapshot().unexpected_bytes_peak <= budget + 2 * beyond);
  CHECK(n.clean());
}

TEST_CASE("credits: out of credit, messages wait at the sender and nothing is lost") {
  nodes n(2, {}, {256u << 10, eager_limit});
  burst b(n, 1, many(30, 60'000));
  n.settle();
  CHECK(b.ended() >= 3);  // as many as the window takes
  CHECK(b.ended() <= 5);
  b.receive(n, 1);
  CHECK(n[1].messages.snapshot().messages_sent == 30);
  CHECK(n[0].messages.snapshot().rendezvous >= 20);
}

TEST_CASE("credits: a sender that starves is granted more while the budget lasts") {
  const std::size_t size = GENERATE(0u, 1u, 64u, 20'000u);
  CAPTURE(size);
  nodes n(2, {}, {64u << 20, eager_limit});
  const std::size_t count = size > 1000 ? 1000 : 10'000;
  burst b(n, 1, many(count, size));
  n.settle();
  // The last one can be received first: all have at least been announced.
  bytes in(size);
  auto op = n[0].recv(1, in, tag{count});
  n.settle();
  CHECK(op->ended_with(errc::ok));
}

TEST_CASE("credits: with a steady receiver credit comes back for ever") {
  nodes n(2, {}, {64u << 10, eager_limit});
  for (int round = 0; round < 200; ++round) {
    burst b(n, 1, {0, 1, 44, 45, 4000, 30'000});
    b.receive(n, 1);
  }
  CHECK(n.clean());
}

TEST_CASE("credits: mixed sizes go through a tiny budget") {
  const std::size_t budget = GENERATE(0u, 64u, 2000u, 8192u);
  nodes n(2, {}, {budget, eager_limit});
  burst b(n, 1, {70'000, 0, 5, 65'536, 2'000'000, 44, 45, 300, 0});
  n.settle();
  b.receive(n, 1);
  CHECK(n[0].messages.snapshot().unexpected_bytes_peak <= budget + beyond);
}

TEST_CASE("credits: peers beyond the budget are served all the same") {
  nodes n(12, {}, {512u << 10, eager_limit});  // first windows for two peers
  std::vector<burst> bursts;
  for (fake::node from = 1; from < 12; ++from)
    bursts.emplace_back(n, from, std::vector<std::size_t>{0, 10, 5000, 100'000});
  n.settle();
  for (fake::node from = 1; from < 12; ++from) bursts[from - 1].receive(n, from);
  CHECK(n[0].messages.snapshot().unexpected_bytes_peak <= (512u << 10) + 11 * beyond);
  CHECK(n.clean());
}

TEST_CASE("credits: the budget is whole again when the peers are gone") {
  nodes n(4, {}, {2u << 20, eager_limit});
  const std::uint32_t all = n[0].budget_left();
  std::vector<burst> bursts;
  for (fake::node from = 1; from < 4; ++from) bursts.emplace_back(n, from, many(20, 40'000));
  n.settle();
  CHECK(n[0].budget_left() < all);
  for (fake::node from = 1; from < 4; ++from) n.world.kill(from);
  n.settle();
  // Messages that had arrived whole can still be received, and their memory counts until then.
  bytes in(40'000);
  std::size_t received = 0;
  for (const weft::proto::inbound_message* m;
       (m = n[0].messages.table().any_unexpected(nullptr));) {
    CHECK(n[0].budget_left() < all);
    auto op = n[0].recv_any(in, any_tag);
    n.settle();
    REQUIRE(op->ended_with(errc::ok));
    ++received;
  }
  CHECK(received != 0);
  CHECK(n[0].budget_left() == all);
  CHECK(n[0].clean());
}

TEST_CASE("credits: a sender without any gets back even the little that it is owed") {
  // The smallest messages that use up a window: 24 eager messages, and headers from the reserve.
  const std::size_t window = 24 * weft::proto::units_of(1) + weft::proto::credit_reserve;
  nodes n(2, {}, {window * weft::proto::credit_unit, eager_limit});
  const bytes data = pattern(1);
  std::vector<std::shared_ptr<sending>> sends;
  for (int i = 0;
       i != 24 + static_cast<int>(weft::proto::credit_reserve / weft::proto::message_units); ++i)
    sends.push_back(n[1].send(0, data, tag{1}));
  const auto last = n[1].send(0, data, tag{2});
  n.settle();
  REQUIRE(std::count_if(sends.begin(), sends.end(), [](auto& s) { return s->ended(); }) == 24);

  // Too few to cause a frame for their credit, if the sender had some left.
  bytes in(1), in_last(1);
  for (int i = 0; i != 10; ++i) REQUIRE(n[0].recv(1, in, tag{1})->ended());
  n.settle();
  const auto wanted = n[0].recv(1, in_last, tag{2});
  n.settle();
  CHECK(wanted->ended_with(errc::ok));
  CHECK(last->ended_with(errc::ok));

  for (std::size_t i = 10; i != sends.size(); ++i) {
    const auto op = n[0].recv(1, in, tag{1});
    n.settle();
    CHECK(op->ended_with(errc::ok));
  }
  CHECK(n.clean());
}

/// Messages above the eager limit of which nothing goes before their receives: headers alone.
const weft::proto::messenger_settings headers_alone{.eager_limit = 100,
                                                    .eager_data = weft::rendezvous_eager_data::no};

TEST_CASE("credits: a sender whose headers use up its credit is granted more") {
  weft::proto::messenger_settings s = headers_alone;
  s.unexpected_budget = 8u << 20;
  nodes n(2, {}, s);
  burst b(n, 1, many(3000, 200));  // the first grant is enough for 1365
  n.settle();
  // The last one can be received first: all have been announced.
  bytes in(200);
  auto op = n[0].recv(1, in, tag{3000});
  n.settle();
  CHECK(op->ended_with(errc::ok));
}

TEST_CASE("credits: a sender whose headers use up its credit gets back what it is owed") {
  const std::size_t window = 4 * weft::proto::units_of(1) + weft::proto::smallest_grant;
  weft::proto::messenger_settings s = headers_alone;
  s.unexpected_budget = window * weft::proto::credit_unit;
  nodes n(2, {}, s);
  const bytes small = pattern(1), large = pattern(200);
  bytes in(1), in_last(1);
  // Matched at once: their credit is owed, and too little for a frame of its own.
  for (int i = 0; i != 4; ++i) {
    const auto op = n[0].recv(1, in, tag{1});
    n[1].send(0, small, tag{1});
    n.settle();
    REQUIRE(op->ended_with(errc::ok));
  }
  for (std::uint32_t i = 0; i != weft::proto::credit_reserve / weft::proto::message_units; ++i)
    n[1].send(0, large, tag{2});
  const auto wanted = n[0].recv(1, in_last, tag{3});
  const auto last = n[1].send(0, small, tag{3});
  n.settle();
  CHECK(wanted->ended_with(errc::ok));
  CHECK(last->ended_with(errc::ok));
}

TEST_CASE("credits: while the way back is full, at most one frame waits to return credit") {
  fake::settings s;
  s.room = 1;
  nodes n(2, s, {0, eager_limit});  // the smallest window, half of which must soon be returned
  burst forth(n, 1, many(100, 0));
  burst back(n, 0, many(100, 0), 1);
  std::vector<std::shared_ptr<receiving>> receives;
  bytes nothing;
  for (int i = 0; i < 100; ++i) {
    receives.push_back(n[0].recv(1, nothing, any_tag));
    receives.push_back(n[1].recv(0, nothing, any_tag));
  }
  while (n.step())
    for (const fake::node from : {0u, 1u})
      REQUIRE(n[from].to(1 - from).writer().credit_state().waiting_credits <= 1);
  for (const auto& op : receives) CHECK(op->ended_with(errc::ok));
  CHECK(n.clean());
}

/// Node 2 connects first and is granted all that is left of the budget; so node 1 soon waits for
/// credit, and node 0 for a message that node 1 cannot begin.
TEST_CASE("credits: what a peer gives back when it goes is granted to one that waits for it") {
  nodes n(3, {}, {64u << 10, eager_limit});
  const bool messages_hold_it = GENERATE(false, true);
  const bool in_good_order = GENERATE(false, true);
  CAPTURE(messages_hold_it, in_good_order);
  burst all(n, 2, many(messages_hold_it ? 200 : 1, 1));
  n.settle();
  burst b(n, 1, many(40, 1));
  n.settle();
  bytes in(1), in_last(1);
  const auto last = n[0].recv(1, in_last, tag{40});
  n.settle();
  REQUIRE(n[0].budget_left() == 0);
  REQUIRE_FALSE(last->ended());
  const auto sent = all.ended();
  if (in_good_order) {
    peer& whom = n[2].to(0);
    const engine::holder hold(n[2].engine);
    whom.close();
  } else {
    n.world.kill(2);
  }
  n.settle();
  if (!messages_hold_it) CHECK(last->ended_with(errc::ok));
  // What its messages hold is free when they are received, each a little.
  for (std::size_t i = 0; i != sent; ++i) {
    const auto op = n[0].recv(2, in, any_tag);
    n.settle();
    REQUIRE(op->ended_with(errc::ok));
  }
  CHECK(last->ended_with(errc::ok));
  for (std::size_t i = 0; i != 39; ++i) {
    const auto op = n[0].recv(1, in, tag{i + 1});
    n.settle();
    CHECK(op->ended_with(errc::ok));
  }
  CHECK(n[0].clean());
}

TEST_CASE("credits: nothing is granted to a peer that is lost before its link comes") {
  nodes n(2);
  const std::uint32_t all = n[0].budget_left();
  peer& lost = n[0].to(1);
  {
    const engine::holder hold(n[0].engine);
    lost.give_up(errc::peer_lost, "its connection broke");
    CHECK(lost.writer().grant_first_credit() == 0);
  }
  CHECK(n[0].budget_left() == all);
}

TEST_CASE("credits: fixed credit does not grow, and no budget bounds it") {
  constexpr std::size_t each = 256u << 10;
  nodes n(3, {}, {.unexpected_budget = 0, .eager_limit = eager_limit, .fixed_credit = each});
  burst first(n, 1, many(30, 60'000));
  burst second(n, 2, many(30, 60'000));
  n.settle();
  for (const burst* b : {&first, &second}) {
    CHECK(b->ended() >= 3);  // as many as the credit takes
    CHECK(b->ended() <= 4);
  }
  CHECK(n[0].messages.snapshot().unexpected_bytes_now <= 2 * each);
  first.receive(n, 1);
  second.receive(n, 2);
  CHECK(n.clean());
}
