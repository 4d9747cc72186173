// SPDX-License-Identifier: Apache-2.0
// The memory for loans: cut, kept by size, and joined again.
#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "proto/loans/loan_pool.hpp"
#include "support/allocations.hpp"
#include "support/catch.hpp"

using weft::proto::loan_block;
using weft::proto::loan_pool;

namespace {

/// A pool with memory of its own.
struct some_pool {
  explicit some_pool(std::size_t budget) : pool(engine, budget) {
    memory = weft::runtime::map_private(pool.budget());
    pool.use({static_cast<std::byte*>(memory.get()), memory.size()});
  }
  weft::runtime::engine engine{weft::progress_mode::polling, {}, "epoll"};
  weft::runtime::mapping memory;
  loan_pool pool;
};

}  // namespace

TEST_CASE("loan pool: rounds its budget up to pages, and gives none of it beyond") {
  some_pool p(10'000);
  CHECK(p.pool.budget() == 12'288);
  CHECK(p.pool.take(12'289) == nullptr);
  loan_block* const all = p.pool.take(12'288);
  REQUIRE(all);
  CHECK(all->capacity == 12'288);
  CHECK(p.pool.take(1) == nullptr);
  CHECK(p.pool.explain(1).find("12288 of the 12288 bytes") != std::string::npos);
  CHECK(p.pool.explain(20'000).find("WEFT_LOAN_BUDGET") != std::string::npos);
  CHECK_FALSE(p.pool.is_whole());
  p.pool.give_back(*all);
  CHECK(p.pool.is_whole());
}

TEST_CASE("loan pool: a block of a size that was used before is the same block") {
  some_pool p(1u << 20);
  loan_block* const first = p.pool.take(70'000);
  REQUIRE(first);
  CHECK(first->capacity >= 70'000);
  CHECK(first->capacity <= 70'000 * 5 / 4 + loan_pool::page);
  CHECK(reinterpret_cast<std::uintptr_t>(first->at) % loan_pool::page == 0);
  p.pool.give_back(*first);
  const std::size_t before = weft::tests::allocations();
  for (int i = 0; i != 100; ++i) {
    loan_block* const again = p.pool.take(70'000 - static_cast<std::size_t>(i));
    if (again != first) FAIL("another block");
    p.pool.give_back(*again);
  }
  CHECK(weft::tests::allocations() == before);
}

TEST_CASE("loan pool: small blocks that are free make room for a large one") {
  some_pool p(1u << 20);
  std::vector<loan_block*> small;
  while (loan_block* const b = p.pool.take(4096)) small.push_back(b);
  CHECK(small.size() == 256);
  CHECK(p.pool.take(1) == nullptr);
  for (loan_block* b : small) p.pool.give_back(*b);
  loan_block* const large = p.pool.take(1u << 20);
  REQUIRE(large);
  p.pool.give_back(*large);
  CHECK(p.pool.is_whole());
}

TEST_CASE("loan pool: blocks of all sizes never overlap, and after all ends the pool is whole") {
  const auto seed = GENERATE(range(0u, 20u));
  CAPTURE(seed);
  std::mt19937 dice(seed);
  some_pool p(4u << 20);
  std::map<std::byte*, loan_block*> held;
  for (int step = 0; step != 3000; ++step) {
    if (!held.empty() && dice() % 2 == 0) {
      const auto it = std::next(held.begin(), static_cast<std::ptrdiff_t>(dice() % held.size()));
      p.pool.give_back(*it->second);
      held.erase(it);
      continue;
    }
    const std::size_t size = dice() % (std::size_t{1} << (dice() % 22));
    loan_block* const b = p.pool.take(size);
    if (!b) continue;
    REQUIRE(b->capacity >= size);
    const auto after = held.emplace(b->at, b).first;
    if (std::next(after) != held.end()) REQUIRE(b->at + b->capacity <= std::next(after)->first);
    if (after != held.begin()) {
      const loan_block& before = *std::prev(after)->second;
      REQUIRE(before.at + before.capacity <= b->at);
    }
    b->at[0] = b->at[b->capacity - 1] = std::byte{1};
  }
  CHECK(p.pool.in_use() == held.size());
  for (const auto& [at, b] : held) p.pool.give_back(*b);
  CHECK(p.pool.is_whole());
}
