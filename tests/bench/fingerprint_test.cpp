// SPDX-License-Identifier: Apache-2.0
// What decides whether ranks have computed the same as one process.
#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/fingerprint.hpp"

namespace {

using weft::bench::fingerprint;

std::vector<double> some_values() {
  std::vector<double> values;
  for (std::uint64_t i = 0; i != 5000; ++i)
    values.push_back(weft::bench::scrambled_fraction(i) - 0.5);
  return values;
}

fingerprint fingerprint_of(const std::vector<double>& values) {
  fingerprint all;
  for (std::size_t i = 0; i != values.size(); ++i) all.add(i, values[i]);
  return all;
}

TEST_CASE("parts of an array, in any order, have the fingerprint of the whole") {
  const auto values = some_values();
  fingerprint odd;
  fingerprint even;
  for (std::size_t i = values.size(); i-- != 0;) (i % 2 == 0 ? even : odd).add(i, values[i]);
  for (std::size_t i = 0; i != odd.sums().size(); ++i) odd.sums()[i] += even.sums()[i];
  CHECK(odd.difference(fingerprint_of(values), 1e-13) == "");
}

TEST_CASE("one wrong value among thousands makes another fingerprint") {
  const auto right = some_values();
  auto wrong = right;
  SECTION("a little wrong") { wrong[1234] *= 1 + 1e-7; }
  SECTION("left out") { wrong[1234] = 0; }
  SECTION("not a number") { wrong[1234] = std::numeric_limits<double>::quiet_NaN(); }
  SECTION("two in each other's places") { std::swap(wrong[12], wrong[4321]); }
  CHECK(fingerprint_of(wrong).difference(fingerprint_of(right), 1e-11) != "");
}

TEST_CASE("whole numbers are compared exactly") {
  fingerprint right;
  fingerprint wrong;
  for (std::uint64_t i = 0; i != 1 << 18; ++i) {
    const auto key = static_cast<double>(weft::bench::scrambled(i) % (1 << 20));
    right.add(i, key);
    wrong.add(i, i == 7777 ? key + 1 : key);
  }
  CHECK(right.difference(right, 0) == "");
  CHECK_THAT(wrong.difference(right, 0), weft::tests::contains("instead of"));
}

}  // namespace
