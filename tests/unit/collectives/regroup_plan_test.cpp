// SPDX-License-Identifier: Apache-2.0
// Who is in a group that is made of an old one.
#include "collectives/regroup_plan.hpp"

#include <weft/error.hpp>

#include "proto/frames/peer_number.hpp"
#include "support/catch.hpp"

using namespace weft::collectives;
using weft::no_peer;
using weft::peer_id;
using peers = std::vector<peer_id>;

TEST_CASE("regroup: shrink keeps the order of those that are left") {
  const auto plan = plan_group(regrouping::shrink, {3, 1, 2}, {4, {0, 2, 3}, {0, no_peer, 2, 3}});
  REQUIRE(plan);
  CHECK(plan->members == peers{3, 2});
  CHECK_THROWS_AS(plan_group(regrouping::shrink, {0, weft::proto::first_non_rank}, {1, {0}, {0}}),
                  weft::error);
}

TEST_CASE("regroup: replace waits for each place, and has all of them in their order") {
  CHECK_FALSE(plan_group(regrouping::replace, {}, {1, {0, 2}, {0, no_peer, 2}}));
  const auto plan = plan_group(regrouping::replace, {}, {2, {0, 2, 3, 4}, {0, 3, 2}});
  REQUIRE(plan);
  CHECK(plan->members == peers{0, 3, 2});  // rank 4 has joined, and has no place
  // A member that did not hear of the loss has another plan.
  CHECK(plan != plan_group(regrouping::replace, {}, {0, {0, 1, 2}, {0, 1, 2}}));
}

TEST_CASE("regroup: a rank that left in good order is not replaced") {
  try {
    plan_group(regrouping::replace, {}, {1, {0, 2}, {0, 1, 2}});
    FAIL("it is");
  } catch (const weft::error& e) {
    CHECK(e.kind() == weft::errc::closed);
    CHECK_THAT(e.what(), weft::tests::starts_with("rank 1 has left the job"));
  }
}

TEST_CASE("regroup: grow has places first, and differs from one view to the next") {
  const job_view view{5, {0, 2, 3, 4}, {0, 3, 2, no_peer}};
  const auto plan = plan_group(regrouping::grow, {}, view);
  REQUIRE(plan);
  CHECK(plan->members == peers{0, 3, 2, 4});
  // One has joined and left again.
  CHECK(plan != plan_group(regrouping::grow, {}, {7, view.ranks, view.places}));
}
