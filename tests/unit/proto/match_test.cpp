// SPDX-License-Identifier: Apache-2.0
#include "proto/match/match.hpp"

#include <algorithm>
#include <deque>
#include <list>
#include <random>

#include "net.hpp"

using weft::any_tag;
using weft::recv_operation;
using weft::recv_request;
using weft::detail::match_operation;
using weft::proto::inbound_message;
using weft::proto::match_table;
using namespace net;

namespace {

/// A table, and peers that are only addresses for it.
struct bench {
  explicit bench(std::uint64_t hashed = ~std::uint64_t{0}) : table(hashed) {}
  /// The peers' messenger would free the remaining messages.
  ~bench() {
    while (inbound_message* const m = table.any_unexpected(nullptr)) table.remove(*m);
  }

  nodes all{1};
  match_table table;
  peer* const a = &all[0].to(1);
  peer* const b = &all[0].to(2);
  std::deque<recv_operation> receives;
  std::deque<inbound_message> messages;

  recv_operation& post(peer* from, tag_mask t) {
    recv_operation& op = receives.emplace_back(
        recv_request{&all[0].messages, from, t, weft::mutable_buffer{}}, nullptr);
    table.post(op);
    return op;
  }
  inbound_message& arrive(peer* from, std::uint64_t t) {
    inbound_message& m = messages.emplace_back();
    m.from = from;
    m.tag = t;
    table.add(m);
    return m;
  }
};

}  // namespace

TEST_CASE("match: a receive for one source and tag takes nothing else") {
  bench t;
  recv_operation& op = t.post(t.a, tag{7});
  CHECK(t.table.take_match(t.a, 8) == nullptr);
  CHECK(t.table.take_match(t.b, 7) == nullptr);
  CHECK(t.table.take_match(t.a, 7) == &op);
  CHECK_FALSE(op.queued);
  CHECK(t.table.take_match(t.a, 7) == nullptr);
}

TEST_CASE("match: messages with a tag of weft's own are for receives that name it") {
  const std::uint64_t hashed = GENERATE(~std::uint64_t{0}, std::uint64_t{0xff});
  CAPTURE(hashed);
  bench t(hashed);
  const std::uint64_t own =
      weft::first_reserved_tag + GENERATE(std::uint64_t{1}, std::uint64_t{1} << 56);
  recv_operation& any = t.post(nullptr, any_tag);
  recv_operation& half =
      t.post(t.a, weft::tag_mask{std::uint64_t{1} << 63, std::uint64_t{1} << 63});
  CHECK(t.table.take_match(t.a, own) == nullptr);
  recv_operation& exact = t.post(t.a, tag{own});
  CHECK(t.table.take_match(t.a, own) == &exact);

  inbound_message& m = t.arrive(t.a, own);
  CHECK(t.table.find(nullptr, any_tag) == nullptr);
  CHECK(t.table.find(t.a, any_tag) == nullptr);
  CHECK(t.table.find(t.a, half.tag) == nullptr);
  CHECK(t.table.find(t.a, tag{own}) == &m);
  t.table.remove(m);
  CHECK(t.table.take_match(t.a, weft::first_reserved_tag - 1) == &any);
  CHECK(t.table.take_match(t.a, weft::first_reserved_tag - 1) == &half);
}

TEST_CASE("match: among receives that match, the one posted first") {
  bench t;
  SECTION("exact, then wild") {
    recv_operation& exact = t.post(t.a, tag{7});
    recv_operation& wild = t.post(nullptr, any_tag);
    CHECK(t.table.take_match(t.a, 7) == &exact);
    CHECK(t.table.take_match(t.a, 7) == &wild);
  }
  SECTION("wild, then exact") {
    recv_operation& wild = t.post(nullptr, any_tag);
    recv_operation& exact = t.post(t.a, tag{7});
    CHECK(t.table.take_match(t.a, 7) == &wild);
    CHECK(t.table.take_match(t.a, 7) == &exact);
  }
  SECTION("wild in the source, in the tag, and in some bits") {
    recv_operation& bits = t.post(t.a, tag_mask(0x10, 0xf0));
    recv_operation& any_source = t.post(nullptr, tag{0x17});
    recv_operation& tagless = t.post(t.a, any_tag);
    CHECK(t.table.take_match(t.b, 0x17) == &any_source);
    CHECK(t.table.take_match(t.a, 0x27) == &tagless);
    CHECK(t.table.take_match(t.a, 0x2017) == &bits);
  }
}

TEST_CASE("match: among messages that match, the one that arrived first") {
  bench t;
  inbound_message& first = t.arrive(t.a, 1);
  inbound_message& second = t.arrive(t.b, 1);
  inbound_message& third = t.arrive(t.a, 1);
  CHECK(t.table.find(nullptr, any_tag) == &first);
  CHECK(t.table.find(t.b, any_tag) == &second);
  CHECK(t.table.find(t.a, tag{1}) == &first);
  CHECK(t.table.find(t.a, tag{2}) == nullptr);
  t.table.remove(first);
  CHECK(t.table.find(nullptr, tag{1}) == &second);
  CHECK(t.table.find(t.a, tag{1}) == &third);
}

TEST_CASE("match: what is withdrawn is not found") {
  bench t;
  recv_operation& first = t.post(t.a, tag{1});
  recv_operation& middle = t.post(t.a, tag{1});
  recv_operation& last = t.post(t.a, tag{1});
  t.table.withdraw(middle);
  CHECK(t.table.take_match(t.a, 1) == &first);
  CHECK(t.table.take_match(t.a, 1) == &last);
  CHECK(t.table.take_posted(nullptr) == nullptr);
}

TEST_CASE("match: what only one peer can serve is taken out in order of posting") {
  bench t;
  // Many buckets of the table, and the list of wildcards.
  std::vector<recv_operation*> of_a, others;
  for (std::uint64_t i = 0; i < 100; ++i) {
    of_a.push_back(&t.post(t.a, tag{i * 7919}));
    others.push_back(&t.post(t.b, tag{i * 7919}));
    if (i % 10 == 3) of_a.push_back(&t.post(t.a, any_tag));
    if (i % 10 == 4) others.push_back(&t.post(nullptr, any_tag));
  }
  const auto taken = [&](const peer* from) {
    std::vector<recv_operation*> all;
    for (match_operation* m = t.table.take_posted(from); m; m = m->after)
      all.push_back(static_cast<recv_operation*>(m));
    return all;
  };
  CHECK(taken(t.a) == of_a);
  CHECK(taken(t.a).empty());
  CHECK(taken(nullptr) == others);
  CHECK(taken(nullptr).empty());
}

TEST_CASE("match: thousands of tags that nobody receives") {
  bench t;
  constexpr std::uint64_t count = 5000;
  const auto tag_of = [](std::uint64_t i) { return i << 40 | i; };
  for (std::uint64_t i = 0; i != count; ++i) t.arrive(t.a, tag_of(i));
  inbound_message& later = t.arrive(t.b, tag_of(count - 1));
  inbound_message& own = t.arrive(t.b, weft::first_reserved_tag);
  const bool forth = GENERATE(true, false);
  for (std::uint64_t k = 0; k != count; ++k) {
    const std::uint64_t i = forth ? k : count - 1 - k;
    inbound_message* const m = t.table.find(k % 2 != 0 ? t.a : nullptr, tag{tag_of(i)});
    REQUIRE(m == &t.messages[i]);
    t.table.remove(*m);
    REQUIRE(t.table.find(t.a, tag{tag_of(i)}) == nullptr);
  }
  CHECK(t.table.any_unexpected(t.a) == nullptr);
  CHECK(t.table.find(nullptr, tag{tag_of(count - 1)}) == &later);
  t.table.remove(later);
  CHECK(t.table.find(nullptr, any_tag) == nullptr);
  CHECK(t.table.any_unexpected(nullptr) == &own);
  t.table.remove(own);
  CHECK(t.table.none_arrived());
}

TEST_CASE("match: agrees with two plain lists over thousands of random steps") {
  const auto seed = GENERATE(1u, 2u, 3u, 4u);
  const std::uint64_t hashed = GENERATE(~std::uint64_t{0}, ~std::uint64_t{1}, std::uint64_t{0});
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  nodes all(1);
  match_table table(hashed);
  std::vector<peer*> peers;
  for (fake::node i = 1; i <= 5; ++i) peers.push_back(&all[0].to(i));
  std::list<recv_operation> posted;       // the model: in order of posting
  std::list<inbound_message> unexpected;  // in order of arrival

  const auto fits = [](const recv_operation& op, const peer* from, std::uint64_t t) {
    return (!op.from || op.from == from) && (t & op.tag.mask) == op.tag.value;
  };
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t some_tag = below(6);
    peer* const some_peer = peers[below(5)];
    switch (below(5)) {
      case 0:
      case 1: {  // a receive
        peer* const from = below(4) == 0 ? nullptr : some_peer;
        const tag_mask masks[] = {
            tag{some_tag}, tag{some_tag}, any_tag, {some_tag, 3}, {some_tag, ~std::uint64_t{1}}};
        const tag_mask mask = masks[below(5)];
        recv_operation& op = posted.emplace_back(
            recv_request{&all[0].messages, from, mask, weft::mutable_buffer{}}, nullptr);
        const auto expected =
            std::find_if(unexpected.begin(), unexpected.end(),
                         [&](const inbound_message& m) { return fits(op, m.from, m.tag); });
        inbound_message* const found = table.find(from, mask);
        if (expected == unexpected.end()) {
          REQUIRE(found == nullptr);
          table.post(op);
        } else {
          REQUIRE(found == &*expected);
          table.remove(*found);
          unexpected.erase(expected);
          posted.pop_back();
        }
        break;
      }
      case 2:
      case 3: {  // a message
        const auto expected =
            std::find_if(posted.begin(), posted.end(),
                         [&](const recv_operation& op) { return fits(op, some_peer, some_tag); });
        match_operation* const found = table.take_match(some_peer, some_tag);
        if (expected == posted.end()) {
          REQUIRE(found == nullptr);
          inbound_message& m = unexpected.emplace_back();
          m.from = some_peer;
          m.tag = some_tag;
          table.add(m);
        } else {
          REQUIRE(found == &*expected);
          posted.erase(expected);
        }
        break;
      }
      default:  // an operation is cancelled
        if (!posted.empty() && below(3) == 0) {
          const auto who =
              std::next(posted.begin(), below(static_cast<std::uint32_t>(posted.size())));
          table.withdraw(*who);
          posted.erase(who);
        } else if (!unexpected.empty()) {
          const auto who =
              std::next(unexpected.begin(), below(static_cast<std::uint32_t>(unexpected.size())));
          table.remove(*who);
          unexpected.erase(who);
        }
    }
    REQUIRE(table.any_unexpected(nullptr) == (unexpected.empty() ? nullptr : &unexpected.front()));
  }
  for (inbound_message& m : unexpected) table.remove(m);
}
