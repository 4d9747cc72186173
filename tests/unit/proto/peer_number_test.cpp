// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "proto/frames/peer_number.hpp"
#include "proto/messenger/message_errors.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace weft::proto;

TEST_CASE("peer number: a rank's lane of the same number has the rank as its number") {
  for (const lane_number own : {lane_number{0}, lane_number{1}, lane_number{most_lanes - 1}})
    for (const peer_id rank : {peer_id{0}, peer_id{7}, most_ranks - 1}) {
      CHECK(number_of({rank, own}, own) == rank);
      CHECK(place_of(rank, own) == peer_place{rank, own});
    }
}

TEST_CASE("peer number: every lane of every rank has one of its own") {
  for (const lane_number own : {lane_number{0}, lane_number{5}, lane_number{most_lanes - 1}}) {
    std::set<peer_id> all;
    for (lane_number lane = 0; lane != most_lanes; ++lane)
      for (const peer_id rank : {peer_id{0}, peer_id{1}, most_ranks - 1}) {
        const peer_id number = number_of({rank, lane}, own);
        CHECK(names_rank(number));
        CHECK(number < first_non_rank);
        CHECK(place_of(number, own) == peer_place{rank, lane});
        all.insert(number);
      }
    CHECK(all.size() == 3u * most_lanes);
  }
}

TEST_CASE("peer number: what names no lane of a rank") {
  CHECK_FALSE(names_rank((most_lanes + 1) * most_ranks));
  CHECK_FALSE(names_rank(first_non_rank));
  CHECK_FALSE(names_rank(no_peer));
}

TEST_CASE("peer number: people read the rank and the lane") {
  CHECK(name_of(3) == "rank 3");
  CHECK(name_of(number_of({3, 2}, 0)) == "rank 3, lane 2");
  CHECK(name_of(number_of({3, 0}, 2)) == "rank 3, lane 0");
  CHECK(name_of(first_non_rank + 1) == "connected peer 1");
}
