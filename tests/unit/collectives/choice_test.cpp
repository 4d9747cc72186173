// SPDX-License-Identifier: Apache-2.0
// Which algorithm a collective uses, and the shares of its data.
#include <algorithm>
#include <string>

#include "collectives/algorithm.hpp"
#include "collectives/algorithms/data.hpp"
#include "collectives/forced.hpp"
#include "collectives/last_choices.hpp"
#include "collectives/select.hpp"
#include "support/catch.hpp"

using namespace weft::collectives;

namespace {

std::string_view chosen(kind what, std::size_t bytes, weft::peer_id ranks, bool commutative = true,
                        const forced_choices& forced = {}, bool flags = false) {
  const group_shape shape{ranks, true, forced, flags};
  return table_of(what).algorithms[choose({what, bytes, commutative}, shape)].name;
}

}  // namespace

TEST_CASE("choice of a collective: flags, where the group has them and they are cheaper") {
  for (std::size_t k = 0; k != kinds; ++k) {
    const auto what = static_cast<kind>(k);
    CAPTURE(name_of(what));
    CHECK(chosen(what, 8, 8, true, {}, true) == "flags");
    CHECK(chosen(what, 8, 8, false, {}, true) == "flags");
    const group_shape shape{8, true, {}, true};
    for (const candidate& one : candidates({what, of_parts}, shape))
      if (one.how->name.starts_with("flags")) CHECK(one.unfit);
    CHECK_FALSE(group_shape{2, false}.flags);
    CHECK_FALSE(group_shape{1, true}.flags);
  }
  CHECK(chosen(kind::all_reduce, 1 << 20, 8, true, {}, true) == "flags_parts");
  CHECK(chosen(kind::all_reduce, 1 << 20, 8, false, {}, true) == "flags_parts");
}

TEST_CASE("choice of a collective: a group that remembers its last ones chooses the same") {
  const group_shape shape{8, true, {}, true};
  last_choices remembered;
  for (int again = 0; again != 2; ++again)
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{8},
                                      std::uint64_t{1} << 20, of_parts, of_parts + 9})
      for (const std::size_t element : {1u, 8u, 8u, 127u, 128u, 129u, 1u << 20})
        for (const bool commutative : {true, false, true})
          for (std::size_t k = 0; k != kinds; ++k) {
            const collective_size c{static_cast<kind>(k), bytes, commutative, element};
            CAPTURE(name_of(c.what), bytes, element, commutative);
            CHECK(remembered.choose(c, shape) == choose(c, shape));
          }
}

TEST_CASE("choice of a collective: few steps for short data, few bytes for long data") {
  CHECK(chosen(kind::broadcast, 8, 8) == "binomial");
  CHECK(chosen(kind::broadcast, 64 << 20, 8) != "binomial");
  CHECK(chosen(kind::all_reduce, 8, 8) == "recursive_doubling");
  CHECK(chosen(kind::all_reduce, 4 << 20, 8) != "recursive_doubling");
  CHECK(chosen(kind::all_gather, 8, 64) == "bruck");
  CHECK(chosen(kind::all_gather, 1 << 20, 64) == "ring");
  CHECK(chosen(kind::all_to_all, 8, 64) == "bruck_8");
  CHECK(chosen(kind::all_to_all, 1 << 20, 64) == "pairwise");
}

TEST_CASE("choice of a collective: by levels between hosts with several ranks") {
  const auto on_hosts = [](kind what, std::size_t bytes, weft::peer_id hosts,
                           weft::peer_id per_host) {
    group_shape shape{hosts * per_host, false};
    shape.per_host = per_host;
    return std::string(table_of(what).algorithms[choose({what, bytes}, shape)].name);
  };
  CHECK(on_hosts(kind::all_reduce, 4 << 10, 8, 64) == "levels_parts");
  CHECK(on_hosts(kind::broadcast, 1 << 20, 8, 64) == "levels_parts");
  CHECK(on_hosts(kind::all_gather, 8, 64, 64) == "levels");
  CHECK(on_hosts(kind::all_to_all, 8, 8, 64) == "levels");
  for (std::size_t k = 0; k != kinds; ++k) {
    const auto what = static_cast<kind>(k);
    CAPTURE(name_of(what));
    for (const std::size_t bytes : {8u, 4'096u, 1'000'000u}) {
      CHECK_FALSE(on_hosts(what, bytes, 8, 1).starts_with("levels"));
      CHECK_FALSE(on_hosts(what, bytes, 1, 8).starts_with("levels"));
    }
    for (const algorithm& one : table_of(what).algorithms)
      if (one.name.starts_with("levels")) {
        CHECK(one.unfit({what, of_parts}, {8, false, {}, false, 4}));
        CHECK(one.unfit({what, 4'096}, {8, false}));
        CHECK_FALSE(one.unfit({what, 4'096}, {8, false, {}, false, 4}));
      }
  }
}

TEST_CASE("choice of a collective: operands keep their order where that matters") {
  for (std::size_t bytes = 8; bytes < (64u << 20); bytes *= 2) {
    CHECK(chosen(kind::all_reduce, bytes, 8, false) == "recursive_doubling");
    CHECK(chosen(kind::reduce, bytes, 8, false) == "binomial");
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
        CHECK(all.front().how ==
              &table_of(what).algorithms[choose({what, bytes}, {ranks, one_host})]);
        CHECK(std::is_sorted(all.begin(), all.end(), [](const candidate& a, const candidate& b) {
          return !a.unfit == !b.unfit ? a.microseconds < b.microseconds : !a.unfit;
        }));
      }
}

TEST_CASE("choice of a collective: the first of a table serves always, and all have names") {
  for (std::size_t k = 0; k != kinds; ++k) {
    const collective_table& table = table_of(static_cast<kind>(k));
    REQUIRE_FALSE(table.algorithms.empty());
    CHECK(table.algorithms.size() <= 15);  // a statement has 4 bits
    for (const weft::peer_id ranks : {1u, 2u, 1'000u})
      for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{8}, of_parts})
        CHECK_FALSE(
            table.algorithms.front().unfit({static_cast<kind>(k), bytes, false}, {ranks, true}));
    for (const algorithm& one : table.algorithms)
      CHECK(forced_by(std::string(table.name) + ":" + std::string(one.name)));
  }
}

TEST_CASE("choice of a collective: what is asked for is chosen where it serves") {
  const auto ring = forced_by("all_reduce:ring,broadcast:chain");
  REQUIRE(ring);
  CHECK(chosen(kind::all_reduce, 64, 8, true, *ring) == "ring");
  CHECK(chosen(kind::broadcast, 8, 8, true, *ring) == "chain");
  CHECK(chosen(kind::all_gather, 8, 64, true, *ring) == "bruck");
  CHECK(chosen(kind::all_reduce, 64, 8, false, *ring) == "recursive_doubling");
  CHECK(chosen(kind::all_reduce, 8, 8, true, *ring) == "recursive_doubling");
  const auto all = candidates({kind::all_reduce, 1 << 20}, {8, true, *ring, false});
  CHECK(all.front().forced);
  CHECK(all.front().how->name == "ring");
  const auto others = candidates({kind::all_reduce, 8}, {8, true, *ring, false});
  CHECK(others.back().unfit);
  CHECK(forced_by("") == forced_choices{});
  for (const char* wrong : {"all_reduce", "all_reduce:", "all_mean:ring", "all_reduce:chain",
                            "all_reduce:ring,all_reduce:ring", ":ring", "all_reduce:ring;"})
    CHECK_FALSE(forced_by(wrong));
}

TEST_CASE("choice of a collective: parts of different sizes have an algorithm") {
  CHECK(chosen(kind::gather, of_parts, 8) == "linear");
  CHECK(chosen(kind::scatter, of_parts, 8) == "linear");
  CHECK(chosen(kind::all_to_all, of_parts, 8) == "pairwise");
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
