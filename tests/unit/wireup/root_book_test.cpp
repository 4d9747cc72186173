// SPDX-License-Identifier: Apache-2.0
// Ranks that meet at rank 0: its book and the members, without sockets.
#include <fmt/format.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "wireup/auth/hello.hpp"
#include "wireup/bootstrap/root_book.hpp"
#include "wireup/bootstrap/root_member.hpp"
#include "wireup/job/job_wire.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup::test {

namespace {

/// A rank, its connection to the book, and what it has learned. Frames wait until `room::settle`.
struct seat final : root_book::client {
  seat(peer_id rank, peer_id size, const context_id& host = {})
      : member(
            {rank, size, host}, [this](frame f) { said.push_back(std::move(f)); },
            [this](root_member::outcome o) { answer = std::move(o); }) {}

  void send(frame f) override { heard.push_back(std::move(f)); }
  void close_when_sent() override { closed = true; }
  void close() override { closed = true; }
  std::string name() const override { return "a process at 10.0.0.9:1"; }

  std::deque<frame> said, heard;
  std::optional<root_member::outcome> answer;
  root_member member;
  bool closed = false;
};
using seat_ptr = std::shared_ptr<seat>;

struct room {
  explicit room(peer_id size) : book(random_id(), size, [this] { ends_to_tell = true; }) {}

  seat_ptr enter(peer_id rank, peer_id size, const context_id& host = {}) {
    auto s = std::make_shared<seat>(rank, size, host);
    seats.push_back(s);
    book.on_client(s);
    s->member.greet();
    settle();
    return s;
  }

  std::vector<seat_ptr> fill(peer_id size) {
    std::vector<seat_ptr> all;
    for (peer_id r = 0; r != size; ++r) all.push_back(enter(r, size));
    return all;
  }

  void settle() {
    for (bool busy = true; busy;) {
      busy = false;
      for (std::size_t i = 0; i != seats.size(); ++i) {
        const seat_ptr s = seats[i];
        for (; !s->said.empty(); s->said.pop_front(), busy = true)
          book.on_frame(s, s->said.front());
        for (; !s->heard.empty(); s->heard.pop_front(), busy = true)
          CHECK(s->member.on_frame(s->heard.front()));
      }
    }
  }

  void leave(const seat_ptr& s, bool died) {
    if (!died) book.on_frame(s, encode_orderly_bye());
    book.on_ended(s);
    std::erase(seats, s);
    CHECK(std::exchange(ends_to_tell, false));
    book.tell_ends();
    settle();
  }

  bool ends_to_tell = false;
  root_book book;
  std::vector<seat_ptr> seats;
};

std::string place(peer_id rank) {
  context_id id;
  id.words = {rank + 1, 0};
  return socket_name_of(id);
}

std::vector<std::string> find(seat& s, peer_id rank) {
  std::vector<std::string> found;
  s.member.find(rank, [&](std::string at) { found.push_back(std::move(at)); });
  return found;
}

const context_id one_host{{1, 1}}, other_host{{2, 2}};

}  // namespace

TEST_CASE("ranks are welcomed when all are there, and know which share their host") {
  room r(4);
  const auto zero = r.enter(0, 4, one_host), one = r.enter(1, 4, one_host);
  const auto three = r.enter(3, 4, other_host);
  CHECK(r.book.missing() == "rank 2");
  for (const seat_ptr& s : {zero, one, three}) CHECK_FALSE(s->answer);
  const auto two = r.enter(2, 4, other_host);
  for (const seat_ptr& s : {zero, one, two, three}) {
    REQUIRE((s->answer && s->answer->welcome));
    CHECK(s->answer->welcome->job == zero->answer->welcome->job);
    CHECK((s->answer->welcome->local_size == 2 && s->answer->welcome->per_host == 2));
  }
}

TEST_CASE("the directory comes when all have published, in as many parts as it takes") {
  constexpr peer_id size = 1000;
  room r(size);
  const auto all = r.fill(size);
  std::vector<std::string> early;
  all[7]->member.find(size - 1, [&](std::string at) { early.push_back(std::move(at)); });
  for (peer_id k = 0; k + 1 != size; ++k) all[k]->member.publish(place(k));
  r.settle();
  CHECK(early.empty());
  all.back()->member.publish(place(size - 1));
  r.settle();
  CHECK(early == std::vector{place(size - 1)});
  for (const peer_id k : {peer_id{0}, peer_id{499}, size - 1})
    for (const peer_id whom : {peer_id{0}, peer_id{1}, size - 1})
      CHECK(find(*all[k], whom) == std::vector{place(whom)});
}

TEST_CASE("who does not fit is refused by name, and the others go on") {
  room r(3);
  const auto zero = r.enter(0, 3);
  const auto larger = r.enter(1, 4), beyond = r.enter(3, 4);
  for (const seat_ptr& s : {larger, beyond}) {
    REQUIRE((s->answer && !s->answer->welcome));
    CHECK_THAT(s->answer->why,
               weft::tests::contains("has 3 ranks") && weft::tests::contains("of 4"));
    CHECK((s->closed && !s->answer->again));
  }
  const auto one = r.enter(1, 3), again = r.enter(1, 3);
  REQUIRE(again->answer);
  CHECK_THAT(again->answer->why,
             weft::tests::contains("rank 1 is here already: a process at 10.0"));
  const auto two = r.enter(2, 3);
  CHECK((one->answer && one->answer->welcome));

  r.leave(one, true);
  const auto early = r.enter(1, 3);  // the job has not begun: where rank 0 listens is not known
  CHECK((early->answer->again && !early->answer->vacant));
  CHECK_THAT(early->answer->why, weft::tests::contains("lost before the job had begun"));
  r.leave(two, false);
  const auto next = r.enter(2, 3);
  CHECK((next->answer->again && !next->answer->welcome));
}

TEST_CASE("a rank that was lost is sent to the coordinator, where rank 0 listens") {
  room r(3);
  const auto zero = r.enter(0, 3, one_host), one = r.enter(1, 3, other_host);
  const auto two = r.enter(2, 3, one_host);
  for (peer_id k = 0; k != 3; ++k) r.seats[k]->member.publish(place(k));
  r.settle();
  r.leave(one, true);
  for (int times = 0; times != 2; ++times) {
    const auto back = r.enter(1, 3, one_host);
    REQUIRE((back->answer && back->answer->vacant));
    CHECK((back->closed && !back->answer->welcome));
    const vacant_place& at = *back->answer->vacant;
    CHECK((at.job == zero->answer->welcome->job && at.place == 1 && at.size == 3));
    CHECK((at.root == place(0) && at.local_size == 2));
  }
}

TEST_CASE("a rank that ends before all are there may come again") {
  room r(2);
  const auto one = r.enter(1, 2);
  r.book.on_ended(one);
  CHECK(r.book.missing() == "ranks 0 to 1");
  const auto zero = r.enter(0, 2), again = r.enter(1, 2);
  CHECK((again->answer && again->answer->welcome));
}

TEST_CASE("the time is over: those that came are given the names of those that did not") {
  room r(8);
  const auto zero = r.enter(0, 8), four = r.enter(4, 8);
  r.book.on_timeout("300 s");
  r.settle();
  for (const seat_ptr& s : {zero, four}) {
    REQUIRE(s->answer);
    CHECK(s->answer->why == "ranks 1 to 3, 5 to 7 of 8 did not come within 300 s");
  }
}

TEST_CASE("the time is over: a rank that comes afterwards learns it, too") {
  room r(3);
  const auto zero = r.enter(0, 3), one = r.enter(1, 3);
  r.book.on_timeout("1 s");
  r.settle();
  const auto late = r.enter(2, 3);
  REQUIRE(late->answer);
  CHECK(late->answer->why == "rank 2 of 3 did not come within 1 s");
}

TEST_CASE("the book is settled when all that are left know where all others are") {
  constexpr peer_id size = 1000;
  room r(size);
  const auto all = r.fill(size);
  bool settled = false;
  r.book.when_settled([&] { settled = true; });
  for (peer_id k = 0; k + 1 != size; ++k) all[k]->member.publish(place(k));
  r.settle();
  CHECK_FALSE(settled);
  CHECK(r.book.unpublished() == std::vector{size - 1});
  r.book.drop_unpublished();
  CHECK(all.back()->closed);
  r.book.tell_ends();
  r.settle();
  CHECK(settled);
  CHECK(find(*all[0], size - 1) == std::vector{std::string()});
  CHECK(find(*all[0], size - 2) == std::vector{place(size - 2)});
}

TEST_CASE("a rank gets each part of the directory once") {
  room r(2);
  const auto all = r.fill(2);
  for (peer_id k = 0; k != 2; ++k) all[k]->member.publish(place(k));
  r.settle();
  r.book.on_frame(all[1], encode_directory_find(0));
  CHECK(all[1]->heard.empty());
  CHECK(all[1]->closed);
}

TEST_CASE("rank 0 that leaves before all are there may come again") {
  seat s(1, 3);
  s.member.greet();
  CHECK(s.member.on_frame(encode_orderly_bye()));
  REQUIRE(s.answer);
  CHECK((s.answer->again && !s.answer->welcome));
}

TEST_CASE("all hear of a rank that ends; it is not found, and is not waited for") {
  room r(3);
  const auto all = r.fill(3);
  std::vector<std::pair<peer_id, bool>> ends;
  all[0]->member.tell_ends([&](peer_id rank, bool died) { ends.emplace_back(rank, died); });
  all[0]->member.publish(place(0));
  all[1]->member.publish(place(1));
  r.settle();
  std::vector<std::string> found;
  all[0]->member.find(1, [&](std::string at) { found.push_back(std::move(at)); });
  all[0]->member.find(2, [&](std::string at) { found.push_back(std::move(at)); });
  r.leave(all[2], true);  // before it has published
  CHECK(ends == std::vector{std::pair<peer_id, bool>{2, true}});
  CHECK(found == std::vector{place(1), std::string()});
  r.leave(all[1], false);
  CHECK(ends.back() == std::pair<peer_id, bool>{1, false});
  CHECK(find(*all[0], 1) == std::vector{std::string()});
}

TEST_CASE("a member without rank 0 still finds all ranks of the directory") {
  room r(3);
  const auto all = r.fill(3);
  for (peer_id k = 0; k != 3; ++k) all[k]->member.publish(place(k));
  r.settle();
  CHECK_FALSE(all[1]->member.on_lost());
  CHECK(find(*all[1], 2) == std::vector{place(2)});
  CHECK(find(*all[1], 0) == std::vector{std::string()});

  room early(3);
  const auto some = early.fill(3);
  std::vector<std::string> found;
  some[1]->member.find(2, [&](std::string at) { found.push_back(std::move(at)); });
  CHECK(some[1]->member.on_lost());
  CHECK(found == std::vector{std::string()});
}

TEST_CASE("a client that talks nonsense is dropped, the ranks go on") {
  room r(2);
  const auto zero = r.enter(0, 2);
  for (unsigned kind = 0; kind != 32; ++kind) {
    CAPTURE(kind);
    const auto liar = std::make_shared<seat>(1, 2);
    r.book.on_client(liar);
    r.book.on_frame(liar, {static_cast<frame_kind>(kind), 0, std::vector<std::byte>(3), {}});
    CHECK(liar->closed);
    r.book.on_frame(liar, encode(root_hello{1, 2, {}}));  // too late
  }
  const auto one = r.enter(1, 2);
  CHECK((zero->answer && one->answer->welcome));
  r.book.on_frame(one, encode_publish(place(1)));
  r.book.on_frame(one, encode_publish(place(1)));  // twice
  CHECK(one->closed);
  CHECK_FALSE(zero->closed);
}

TEST_CASE("more silent clients than there can be ranks push out the oldest") {
  room r(2);
  std::vector<seat_ptr> silent;
  for (std::size_t i = 0; i <= r.book.most_unnamed(); ++i) {
    silent.push_back(std::make_shared<seat>(1, 2));
    r.book.on_client(silent.back());
  }
  CHECK(silent.front()->closed);
  CHECK_FALSE(silent.back()->closed);
  r.book.on_impatience(silent.back());
  CHECK(silent.back()->closed);
}

TEST_CASE("a member believes no rank 0 that says what cannot be") {
  seat s(1, 3);
  s.member.greet();
  CHECK_FALSE(s.member.on_frame(encode(root_welcome{{}, 4, 1, 0})));
  CHECK_FALSE(s.member.on_frame(encode(root_welcome{{}, 3, 4, 0})));
  CHECK(s.member.on_frame(encode(root_welcome{{}, 3, 1, 0})));
  std::vector<job_ended> nobody{{3, true}};
  CHECK_FALSE(s.member.on_frame(encode_ranks_ended(nobody)));
  CHECK_FALSE(s.member.on_frame(encode_directory_part({place(0), place(1), place(2)}, 1)));
  CHECK_FALSE(
      s.member.on_frame(encode_directory_part({place(0), place(1), place(2), place(3)}, 0)));
  CHECK(s.member.on_frame(encode_directory_part({place(0), place(1), place(2)}, 0)));
  CHECK(find(s, 2) == std::vector{place(2)});
}

}  // namespace weft::wireup::test
