// SPDX-License-Identifier: Apache-2.0
// Which algorithm a collective uses, and the shares of its data.
#include <algorithm>

#include "collectives/algorithms.hpp"
#include "collectives/select.hpp"
#include "support/catch.hpp"

using namespace weft::collectives;

namespace {

algorithm chosen(kind what, std::size_t bytes, weft::peer_id ranks, bool commutative = true) {
  return choose({what, bytes, commutative}, {ranks, true});
}

}  // namespace

TEST_CASE("choice of a collective: few steps for short data, few bytes for long data") {
  CHECK(chosen(kind::broadcast, 8, 8) == algorithm::binomial);
  CHECK(chosen(kind::broadcast, 64 << 20, 8) != algorithm::binomial);
  CHECK(chosen(kind::all_reduce, 8, 8) == algorithm::recursive_doubling);
  CHECK(chosen(kind::all_reduce, 4 << 20, 8) != algorithm::recursive_doubling);
  CHECK(chosen(kind::all_gather, 8, 64) == algorithm::bruck);
  CHECK(chosen(kind::all_gather, 1 << 20, 64) == algorithm::ring);
  CHECK(chosen(kind::all_to_all, 8, 64) == algorithm::bruck);
  CHECK(chosen(kind::all_to_all, 1 << 20, 64) == algorithm::pairwise);
}

TEST_CASE("choice of a collective: operands keep their order where that matters") {
  for (std::size_t bytes = 8; bytes < (64u << 20); bytes *= 2) {
    CHECK(chosen(kind::all_reduce, bytes, 8, false) == algorithm::recursive_doubling);
    CHECK(chosen(kind::reduce, bytes, 8, false) == algorithm::binomial);
  }
}

TEST_CASE("choice of a collective: the first candidate is the cheapest, and is the choice") {
  const auto what =
      GENERATE(kind::barrier, kind::broadcast, kind::reduce, kind::all_reduce, kind::gather,
               kind::scatter, kind::all_gather, kind::all_to_all, kind::scan);
  for (const weft::peer_id ranks : {1u, 2u, 3u, 7u, 8u, 1000u})
    for (const std::size_t bytes : {0u, 8u, 5'000u, 3'000'000u})
      for (const bool one_host : {true, false}) {
        const auto all = candidates({what, bytes}, {ranks, one_host});
        REQUIRE_FALSE(all.empty());
        CHECK(all.front().how == choose({what, bytes}, {ranks, one_host}));
        CHECK(std::is_sorted(all.begin(), all.end(), [](const candidate& a, const candidate& b) {
          return a.microseconds < b.microseconds;
        }));
      }
}

TEST_CASE("choice of a collective: names") {
  kind found{};
  CHECK(find_kind("all_reduce", found));
  CHECK(found == kind::all_reduce);
  CHECK(name_of(kind::scan) == "scan");
  CHECK_FALSE(find_kind("allreduce", found));
}

TEST_CASE("division: blocks cover all elements, and differ by one element at most") {
  for (const std::size_t element : {1u, 8u, 24u})
    for (const std::size_t elements : {0u, 1u, 5u, 8u, 100u})
      for (const std::size_t blocks : {1u, 3u, 8u}) {
        const division d(elements * element, element, blocks);
        CHECK(d.begin(0) == 0);
        CHECK(d.begin(blocks) == elements * element);
        for (std::size_t k = 0; k != blocks; ++k) {
          CHECK(d.size(k) % element == 0);
          CHECK(d.size(k) <= d.size(0));
          CHECK(d.size(0) - d.size(k) <= element);
        }
      }
}
