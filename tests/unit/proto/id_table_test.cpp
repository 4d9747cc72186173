// SPDX-License-Identifier: Apache-2.0
#include "proto/support/id_table.hpp"
#include "support/catch.hpp"

#include <set>
#include <vector>

using table = weft::proto::id_table<int>;

TEST_CASE("id_table: a number finds what it was given for, until it is taken back") {
  table t;
  int one = 1, two = 2;
  const auto a = t.insert(one);
  const auto b = t.insert(two);
  CHECK(a != 0);
  CHECK(a != b);
  CHECK(t.find(a) == &one);
  CHECK(t.find(b) == &two);
  t.erase(a);
  CHECK(t.find(a) == nullptr);
  CHECK(t.find(b) == &two);
  CHECK(t.any() == &two);
  t.erase(b);
  CHECK(t.any() == nullptr);
}

TEST_CASE("id_table: numbers that nobody got find nothing") {
  table t;
  int one = 1;
  const std::uint64_t a = t.insert(one);
  for (const std::uint64_t wrong : {std::uint64_t{0}, a + 1, a + 65536, ~std::uint64_t{0}})
    CHECK(t.find(wrong) == nullptr);
}

TEST_CASE("id_table: all numbers, then none, then the one that was given back") {
  table t;
  std::vector<int> things(table::most);
  std::set<std::uint16_t> numbers;
  for (int& thing : things) numbers.insert(t.insert(thing));
  CHECK(numbers.size() == table::most);
  CHECK(*numbers.begin() == 1);
  int more = 0;
  CHECK(t.insert(more) == 0);
  t.erase(4711);
  CHECK(t.insert(more) == 4711);
  CHECK(t.find(4711) == &more);
}

TEST_CASE("id_table: any_if looks at what is in") {
  table t;
  int one = 1, two = 2;
  t.insert(one);
  const auto b = t.insert(two);
  const auto even = [](int i) { return i % 2 == 0; };
  CHECK(t.any_if(even) == &two);
  t.erase(b);
  CHECK(t.any_if(even) == nullptr);
}
