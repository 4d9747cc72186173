// SPDX-License-Identifier: Apache-2.0
// Groups that are revoked: what waits for them ends, and what has come or will come is dropped.
#include "proto/groups/group_table.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "net.hpp"

using namespace net;
using namespace weft::proto;
using weft::detail::send_mode;

namespace {

constexpr std::uint64_t ours = 77, theirs = 78;
const bytes nothing;

tag of_group(std::uint64_t group, std::uint64_t sequence = 0) {
  return {message_tag(group, sequence)};
}

/// A group of some peers, which notes its revocation.
struct group_stub final : revocable {
  explicit group_stub(std::vector<peer_id> all) : members(std::move(all)) {}
  void on_revoked(const revocation& what) noexcept override { revoked = what; }
  bool has_member(peer_id who) const noexcept override {
    return std::find(members.begin(), members.end(), who) != members.end();
  }
  void on_unexpected(peer& from, std::uint64_t tag) noexcept override {
    unexpected.emplace_back(from.id(), tag);
  }
  void on_statement(peer_id from, const group_statement& what) noexcept override {
    said.emplace_back(from, what);
  }
  bool on_watch(std::uint64_t, bool) noexcept override { return false; }
  void on_descriptor(peer_id, const unique_fd&) noexcept override {}
  void on_not_passed(peer_id to) noexcept override { not_passed.push_back(to); }
  void on_member_ended(peer_id who, errc) noexcept override { ended.push_back(who); }
  std::uint64_t begun() const noexcept override { return 3; }
  void on_closed() noexcept override {}
  ~group_stub() {
    for (const auto& [at, group] : added) {
      const engine::holder hold(at->engine);
      at->messages.groups().remove(group);
    }
  }
  std::vector<std::pair<side*, std::uint64_t>> added;
  std::vector<peer_id> members;
  std::optional<revocation> revoked;
  std::vector<std::pair<peer_id, std::uint64_t>> unexpected;
  std::vector<std::pair<peer_id, group_statement>> said;
  std::vector<peer_id> not_passed, ended;
};

void add_at(side& n, std::uint64_t group, group_stub& who) {
  const engine::holder hold(n.engine);
  REQUIRE(n.messages.groups().add(group, who));
  who.added.emplace_back(&n, group);
}

void revoke_at_1(nodes& n, std::uint64_t group, const revocation& what) {
  const auto told = n[0].send(1, nothing, tag{revoke_tag(group)}, send_mode::signal, what.packed());
  n.settle();
  REQUIRE(told->ended_with(errc::ok));
}

}  // namespace

TEST_CASE("group table: the tags of messages, barriers and revocations differ") {
  CHECK(is_group_message(message_tag(0, 0)));
  CHECK(is_group_message(message_tag(group_mask, sequence_mask)));
  CHECK_FALSE(is_group_message(barrier_tag(5, 3)));
  CHECK_FALSE(is_group_message(message_tag(5, 3) ^ group_bit));
  CHECK(is_revocation(revoke_tag(5)));
  CHECK_FALSE(is_revocation(barrier_tag(5, 31, sequence_mask)));
  CHECK_FALSE(is_statement(barrier_tag(5, 31, sequence_mask)));
  CHECK_FALSE(is_statement(revoke_tag(5)));
  CHECK(sequence_of(message_tag(5, 9, call_mask)) == 9);
  CHECK(call_of(message_tag(5, 9, 77)) == 77);
  CHECK(call_of(barrier_tag(5, 31, 9)) == 0);
  for (const std::uint64_t group : {std::uint64_t{0}, std::uint64_t{5}, group_mask}) {
    CHECK(group_of(message_tag(group, 9)) == group);
    CHECK(group_of(revoke_tag(group)) == group);
    for (const auto use : {statement_use::tells, statement_use::asks, statement_use::contradicts,
                           statement_use::lost}) {
      CHECK(is_statement(statement_tag(group, use)));
      CHECK(group_of(statement_tag(group, use)) == group);
      CHECK_FALSE(is_revocation(statement_tag(group, use)));
    }
    CHECK(is_of_group(barrier_tag(group, 2), group));
    CHECK_FALSE(is_of_group(barrier_tag(group, 2), group ^ 1));
  }
}

TEST_CASE("group table: a revocation ends the receives of its group, and of no other") {
  nodes n(2);
  group_stub members({0, 1});
  add_at(n[1], ours, members);
  bytes a(8), b(8), c(8);
  const auto waiting = n[1].recv(0, a, of_group(ours));
  const auto barrier = n[1].recv(0, b, tag{barrier_tag(ours, 0)});
  const auto other = n[1].recv(0, c, of_group(theirs));
  n.settle();
  revoke_at_1(n, ours, {errc::peer_lost, 3});
  CHECK(waiting->ended_with(errc::peer_lost));
  CHECK(barrier->ended_with(errc::peer_lost));
  CHECK_FALSE(other->ended());
  const bytes out = pattern(8);
  const auto sent = n[0].send(1, out, of_group(theirs));
  n.settle();
  CHECK(other->ended_with(errc::ok));
  CHECK(c == out);
  const auto* const known = n[1].messages.groups().find_revoked(ours);
  REQUIRE(known);
  CHECK(known->rank == 3);
  REQUIRE(members.revoked);
  CHECK(members.revoked->rank == 3);
  CHECK(n.clean());
}

TEST_CASE("group table: messages of a revoked group are dropped, before and after, of any size") {
  nodes n(2);
  const std::size_t size = GENERATE(0u, 8u, 5'000u, 300'000u, 3'000'000u);
  const bool later = GENERATE(false, true);
  CAPTURE(size, later);
  group_stub members({0, 1});
  add_at(n[1], ours, members);
  const bytes out = pattern(size);
  if (later) revoke_at_1(n, ours, {errc::stopped, 0});
  std::vector<std::shared_ptr<sending>> sends;
  for (std::uint64_t i = 0; i != 5; ++i) sends.push_back(n[0].send(1, out, of_group(ours, i)));
  n.settle();
  if (!later) revoke_at_1(n, ours, {errc::stopped, 0});
  n.settle();
  for (const auto& s : sends) CHECK(s->ended_with(errc::ok));
  CHECK(n[1].messages.table().none_arrived());
  // The credit is back: ordinary messages cross.
  bytes in(size);
  const auto received = n[1].recv(0, in, tag{1});
  const auto sent = n[0].send(1, out, tag{1});
  n.settle();
  CHECK(received->ended_with(errc::ok));
  CHECK(in == out);
  CHECK(n.clean());
}

TEST_CASE("group table: the first revocation counts, and only the last ones are kept") {
  nodes n(2);
  group_stub members({0, 1});
  add_at(n[1], ours, members);
  revoke_at_1(n, ours, {errc::closed, 1});
  revoke_at_1(n, ours, {errc::stopped, 2});
  REQUIRE(n[1].messages.groups().find_revoked(ours));
  CHECK(n[1].messages.groups().find_revoked(ours)->why == errc::closed);
  for (std::uint64_t g = 1'000; g != 1'300; ++g) {
    add_at(n[1], g, members);
    revoke_at_1(n, g, {errc::closed, 1});
  }
  CHECK_FALSE(n[1].messages.groups().find_revoked(ours));
  CHECK(n[1].messages.groups().find_revoked(1'299));
  // A reason that no side gives.
  add_at(n[1], theirs, members);
  revoke_at_1(n, theirs, {static_cast<errc>(12345), 7});
  CHECK(n[1].messages.groups().find_revoked(theirs)->why == errc::peer_lost);
}

TEST_CASE("group table: a peer that is no member does not revoke a group") {
  nodes n(3);
  const bool before = GENERATE(false, true);
  CAPTURE(before);
  group_stub members({1, 2});
  if (!before) add_at(n[1], ours, members);
  bytes in(8);
  const auto waiting = n[1].recv(2, in, of_group(ours));
  n.settle();
  revoke_at_1(n, ours, {errc::peer_lost, 2});
  if (before) add_at(n[1], ours, members);
  CHECK_FALSE(members.revoked);
  CHECK_FALSE(n[1].messages.groups().find_revoked(ours));
  const bytes out = pattern(8);
  const auto sent = n[2].send(1, out, of_group(ours));
  n.settle();
  CHECK(waiting->ended_with(errc::ok));
  CHECK(in == out);
  CHECK(n.clean());
}

TEST_CASE("group table: what a member has said before the group was made counts then") {
  nodes n(2);
  const bytes out = pattern(8);
  const auto before = n[0].send(1, out, of_group(ours));
  n.settle();
  revoke_at_1(n, ours, {errc::stopped, 0});
  CHECK_FALSE(n[1].messages.table().none_arrived());
  const auto between = n[0].send(1, out, of_group(ours));
  n.settle();
  group_stub members({0, 1});
  add_at(n[1], ours, members);
  n.settle();
  REQUIRE(members.revoked);
  CHECK(members.revoked->why == errc::stopped);
  CHECK(n[1].messages.table().none_arrived());
  const auto after = n[0].send(1, out, of_group(ours));
  n.settle();
  CHECK(after->ended_with(errc::ok));
  CHECK(n[1].messages.table().none_arrived());
  CHECK(n.clean());
}

TEST_CASE("group table: the reasons of a revocation are kept with it until the group is made") {
  nodes n(3);
  const tag tells{statement_tag(ours, statement_use::tells)};
  const auto by_another = n[2].send(1, nothing, tells, send_mode::signal, 41);
  const auto one = n[0].send(1, nothing, tells, send_mode::signal, 42);
  const auto two = n[0].send(1, nothing, tells, send_mode::signal, 43);
  n.settle();
  revoke_at_1(n, ours, {errc::invalid_argument, 0});
  group_stub members({0, 1});
  add_at(n[1], ours, members);
  REQUIRE(members.said.size() == 2);
  CHECK(members.said[0].second.first == 42);
  CHECK(members.said[1].second.first == 43);
  REQUIRE(members.revoked);
  CHECK(members.revoked->why == errc::invalid_argument);
}

TEST_CASE("group table: both sides hear of a descriptor that came early and had to go") {
  nodes n(2);
  group_stub at_sender({0, 1}), at_receiver({0, 1});
  add_at(n[0], ours, at_sender);
  const auto before = n[0].send(1, nothing, tag{1});
  n.settle();
  {
    const engine::holder hold(n[1].engine);
    for (std::uint64_t group = ours; group != ours + 5; ++group)
      n[1].messages.groups().on_descriptor(0, group, unique_fd());
  }
  n.settle();
  REQUIRE(at_sender.said.size() == 1);
  CHECK(at_sender.said[0].first == 1);
  CHECK(at_sender.said[0].second.use == statement_use::no_segment);
  add_at(n[1], ours, at_receiver);
  REQUIRE(at_receiver.said.size() == 1);
  CHECK(at_receiver.said[0].first == 0);
  CHECK(at_receiver.said[0].second.use == statement_use::no_segment);
}

TEST_CASE("group table: a peer hears that its link passes nothing, though the group has gone") {
  nodes n(2);
  group_stub at_receiver({0, 1});
  add_at(n[1], ours, at_receiver);
  const auto before = n[0].send(1, nothing, tag{1});
  n.settle();
  {
    const engine::holder hold(n[0].engine);
    n[0].messages.groups().pass(*n[0].messages.peers().at_held(1), ours, unique_fd());
  }
  n.settle();
  REQUIRE(at_receiver.said.size() == 1);
  CHECK(at_receiver.said[0].second.use == statement_use::no_segment);
}

TEST_CASE("group table: a member that has ended is lost, and has not refused its descriptor") {
  nodes n(2);
  group_stub at_sender({0, 1});
  const auto before = n[0].send(1, nothing, tag{1});
  n.settle();
  n.world.kill(1);
  n.settle();
  add_at(n[0], ours, at_sender);  // after the end: nothing else tells the group of it
  {
    const engine::holder hold(n[0].engine);
    n[0].messages.groups().pass(*n[0].messages.peers().at_held(1), ours, unique_fd());
  }
  CHECK(at_sender.ended == std::vector<peer_id>{1});
  CHECK(at_sender.not_passed.empty());
}

TEST_CASE("group table: who is lost is kept until the group is made, without a revocation, too") {
  nodes n(3);
  const tag lost{statement_tag(ours, statement_use::lost)};
  const auto by_another = n[2].send(1, nothing, lost, send_mode::signal, 41);
  const auto one = n[0].send(1, nothing, lost, send_mode::signal, 42);
  const auto asks =
      n[0].send(1, nothing, tag{statement_tag(ours, statement_use::asks)}, send_mode::signal, 43);
  n.settle();
  group_stub members({0, 1});
  add_at(n[1], ours, members);
  REQUIRE(members.said.size() == 1);
  CHECK(members.said[0].second.use == statement_use::lost);
  CHECK(members.said[0].second.first == 42);
  CHECK_FALSE(members.revoked);
}

TEST_CASE("group table: a peer that revokes many groups displaces nothing that others have said") {
  nodes n(3);
  const auto said = n[2].send(1, nothing, tag{revoke_tag(ours)}, send_mode::signal,
                              revocation{errc::stopped, 0}.packed());
  n.settle();
  for (std::uint64_t g = 1'000; g != 2'000; ++g) revoke_at_1(n, g, {errc::closed, 1});
  group_stub members({2, 1});
  add_at(n[1], ours, members);
  CHECK(members.revoked);
  CHECK(said->ended_with(errc::ok));
  CHECK(n.clean());
}

TEST_CASE("group table: a group hears of messages that no receive waits for, and of statements") {
  nodes n(3);
  group_stub members({0, 1});
  add_at(n[1], ours, members);
  bytes in(8);
  const bytes out = pattern(8);
  const auto waiting = n[1].recv(0, in, of_group(ours, 1));
  n.settle();
  const auto expected = n[0].send(1, out, of_group(ours, 1));
  const auto message = n[0].send(1, out, of_group(ours, 2));
  const auto signal = n[0].send(1, nothing, tag{barrier_tag(ours, 3, 4)}, send_mode::signal);
  const auto of_others = n[0].send(1, out, of_group(theirs, 2));
  n.settle();
  // In any order: a signal goes ahead of messages.
  REQUIRE(members.unexpected.size() == 2);
  std::sort(members.unexpected.begin(), members.unexpected.end());
  CHECK(members.unexpected[0] == std::pair(peer_id{0}, message_tag(ours, 2)));
  CHECK(members.unexpected[1] == std::pair(peer_id{0}, barrier_tag(ours, 3, 4)));

  const tag asks{statement_tag(ours, statement_use::asks)};
  const auto said = n[0].send(1, nothing, asks, send_mode::signal, 42);
  const auto by_a_stranger = n[2].send(1, nothing, asks, send_mode::signal, 43);
  n.settle();
  REQUIRE(members.said.size() == 1);
  CHECK(members.said[0].first == 0);
  CHECK(members.said[0].second.use == statement_use::asks);
  CHECK(members.said[0].second.first == 42);
}
