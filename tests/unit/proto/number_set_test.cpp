// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "proto/support/number_set.hpp"
#include "support/catch.hpp"

TEST_CASE("number set: each number is seen once, in any order") {
  weft::proto::number_set set;
  CHECK(set.first_missing() == 0);
  for (const std::uint64_t n : {3u, 1u, 0u, 7u}) {
    CHECK_FALSE(set.has(n));
    set.add(n);
    CHECK(set.has(n));
    set.add(n);
  }
  CHECK(set.first_missing() == 2);
  set.add(2);
  CHECK(set.first_missing() == 4);
  CHECK(set.has(0));
  CHECK_FALSE(set.has(6));
  CHECK_FALSE(set.has(8));
}

TEST_CASE("number set: one far ahead, and those in between in any order") {
  weft::proto::number_set set;
  set.add(1000);
  CHECK(set.first_missing() == 0);
  std::vector<std::uint64_t> rest(1000);
  std::iota(rest.begin(), rest.end(), 0);
  std::shuffle(rest.begin(), rest.end(), std::mt19937_64(5));
  std::set<std::uint64_t> seen{1000};
  for (const std::uint64_t n : rest) {
    REQUIRE_FALSE(set.has(n));
    set.add(n);
    seen.insert(n);
    std::uint64_t missing = 0;
    while (seen.contains(missing)) ++missing;
    REQUIRE(set.first_missing() == missing);
    REQUIRE(set.has(n));
  }
  CHECK(set.first_missing() == 1001);
  CHECK_FALSE(set.has(1001));
  set.add(1001);
  CHECK(set.first_missing() == 1002);
}
