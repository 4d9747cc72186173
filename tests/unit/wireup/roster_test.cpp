// SPDX-License-Identifier: Apache-2.0
// The roster of a job's members, and its messages.
#include "wireup/job/roster.hpp"

#include "node.hpp"
#include "support/catch.hpp"

namespace weft::wireup::test {

using transports::wireup_message;

TEST_CASE("a roster takes changes that make sense, and only those") {
  roster r(3);
  CHECK(r.members() == std::set<peer_id>{0, 1, 2});
  CHECK(r.apply({change_kind::joined, 4}));  // was ready before the one that came before it
  CHECK(r.apply({change_kind::joined, 3}));
  CHECK_FALSE(r.apply({change_kind::joined, 3}));  // twice
  CHECK_FALSE(r.apply({change_kind::joined, 1}));  // a rank from the start
  CHECK(r.apply({change_kind::left, 1}));
  CHECK_FALSE(r.apply({change_kind::died, 1}));  // gone already
  CHECK_FALSE(r.apply({change_kind::left, 9}));  // never there
  CHECK(r.apply({change_kind::died, 3}));
  CHECK_FALSE(r.apply({change_kind::joined, weft::proto::most_ranks}));
  CHECK(r.epoch() == 4);
  CHECK(r.members() == std::set<peer_id>{0, 2, 4});
}

/// The roster of a process that was told only a digest.
roster reader_of(const roster& book) {
  roster r(book.first_size());
  for (const changes& part : book.digest()) {
    CHECK(part.all.size() <= changes::most);
    const auto told = decode_changes(encode(part));
    REQUIRE(told);
    for (const change& one : told->all) CHECK(r.apply(one));
    r.advance_to(part.epoch);
  }
  return r;
}

TEST_CASE("a new member is told what still counts, however much there was") {
  roster r(3);
  CHECK(r.digest().empty());
  for (peer_id joiner = 3; joiner != 5003; ++joiner) {
    REQUIRE(r.apply({change_kind::joined, joiner}));
    REQUIRE(r.apply({joiner % 2 == 0 ? change_kind::left : change_kind::died, joiner}));
  }
  REQUIRE(r.digest().size() == 1);
  CHECK(r.digest()[0].all.empty());
  CHECK(reader_of(r).epoch() == 10'000);
  CHECK(r.apply({change_kind::died, 1}));
  for (peer_id joiner = 6000; joiner != 8500; ++joiner) r.apply({change_kind::joined, joiner});
  CHECK(r.digest().size() == 3);
  CHECK(r.digest()[0].all[0] == change{change_kind::died, 1});
  const roster new_member = reader_of(r);
  CHECK(new_member.epoch() == r.epoch());
  CHECK(new_member.members() == r.members());
}

TEST_CASE("a roster: a place is taken when its rank was lost, by one at a time") {
  roster r(3);
  CHECK_FALSE(r.apply({change_kind::returned, 3, 1}));  // rank 1 lives
  CHECK(r.apply({change_kind::died, 1}));
  CHECK(r.is_vacant(1));
  CHECK_FALSE(r.apply({change_kind::returned, 1, 1}));  // under a rank of its own
  CHECK_FALSE(r.apply({change_kind::returned, 3, 7}));
  CHECK(r.apply({change_kind::returned, 3, 1}));
  CHECK(r.places() == std::vector<peer_id>{0, 3, 2});
  CHECK_FALSE(r.apply({change_kind::returned, 4, 1}));
  CHECK(reader_of(r).places() == r.places());
  CHECK(r.apply({change_kind::died, 3}));
  CHECK(r.apply({change_kind::returned, 4, 1}));
  CHECK(r.apply({change_kind::joined, 5}));
  CHECK(r.places() == std::vector<peer_id>{0, 4, 2});
  CHECK(reader_of(r).places() == r.places());
  // A rank that leaves is not replaced, whichever process had its place.
  CHECK(r.apply({change_kind::left, 4}));
  CHECK(r.apply({change_kind::left, 2}));
  CHECK(r.places() == std::vector<peer_id>{0, 1, 2});
  CHECK_FALSE(r.apply({change_kind::returned, 6, 1}));
  CHECK_FALSE(r.apply({change_kind::returned, 6, 2}));
  CHECK(reader_of(r).places() == r.places());
  CHECK(reader_of(r).members() == r.members());
}

TEST_CASE("budget: a roster has room for so many that joined", "[many]") {
  roster r(3);
  const auto most = static_cast<peer_id>(roster::most_joined);
  for (peer_id joiner = 3; joiner != 3 + most; ++joiner) r.apply({change_kind::joined, joiner});
  CHECK_FALSE(r.has_room());
  CHECK_FALSE(r.apply({change_kind::joined, 3 + most}));
  CHECK(r.apply({change_kind::left, 7}));
  CHECK(r.apply({change_kind::joined, 3 + most}));
}

TEST_CASE("what rank 0 and members say, and back") {
  const roster_welcome w{random_id(), 7, 4};
  const auto got = decode_roster_welcome(encode(w));
  REQUIRE(got);
  CHECK((got->job == w.job && got->rank == 7 && got->first_size == 4));
  const auto told =
      decode_changes(encode(changes{9, {{change_kind::died, 5}, {change_kind::returned, 6, 5}}}));
  REQUIRE(told);
  CHECK(told->epoch == 9);
  CHECK(told->all == std::vector<change>{{change_kind::died, 5}, {change_kind::returned, 6, 5}});
  changes too_many;
  too_many.all.resize(changes::most + 1, {change_kind::left, 1});
  CHECK_FALSE(decode_changes(encode(too_many)));
  const std::string where = random_socket_name() + ",10.0.0.1:5";
  CHECK(decode_roster_found(encode(roster_found{6, where}))->locator == where);
  CHECK(decode_roster_found(encode(roster_found{6, ""}))->locator.empty());
  CHECK(decode_roster_publish(encode_roster_publish(where)) == where);
  CHECK(decode_roster_find(encode_roster_find(8)) == 8);
  CHECK(is_roster_leave(encode_roster_leave()));
  for (const roster_greeting g : {roster_greeting{}, {3, no_peer}, {no_peer, 2}}) {
    const auto read = decode_roster_greeting(encode(g));
    REQUIRE(read);
    CHECK(read->rank == g.rank);
    CHECK(read->place == g.place);
  }
  for (const char* bad : {"", "hello", "weft roster 3 ", "weft roster 3 x", "weft roster 3 -1",
                          "weft roster 3 4294967295", "weft roster 3 for ", "weft roster 3 for x",
                          "weft roster 3 for -1", "weft roster 2 new"})
    CHECK_FALSE(decode_roster_greeting(bad));
}

TEST_CASE("any one byte changed or cut in what is said never harms") {
  for (const wireup_message& good :
       {encode(roster_welcome{random_id(), 7, 4}),
        encode(changes{3, {{change_kind::returned, 5, 2}}}),
        encode(roster_found{6, random_socket_name()}), encode_roster_publish(random_socket_name()),
        encode_roster_find(8)}) {
    for (std::size_t i = 0; i < good.bytes.size(); ++i) {
      for (const int flip : {1, 128, 255}) {
        wireup_message p;
        p.kind = good.kind;
        p.bytes = good.bytes;
        p.bytes[i] ^= static_cast<std::byte>(flip);
        if (const auto w = decode_roster_welcome(p)) CHECK(w->rank < weft::proto::most_ranks);
        if (const auto c = decode_changes(p))
          for (const change& one : c->all) roster(3).apply(one);
        decode_roster_found(p), decode_roster_publish(p), decode_roster_find(p);
        p.bytes.resize(i);
        CHECK_FALSE(decode_roster_welcome(p));
        CHECK_FALSE(decode_changes(p));
        CHECK_FALSE(decode_roster_found(p));
        CHECK_FALSE(decode_roster_publish(p));
        CHECK_FALSE(decode_roster_find(p));
      }
    }
  }
}

}  // namespace weft::wireup::test
