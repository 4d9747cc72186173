// SPDX-License-Identifier: Apache-2.0
// What members know of each other's calls.
#include "collectives/call_log.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <weft/reduction.hpp>

#include "collectives/algorithms/data.hpp"
#include "support/catch.hpp"

using namespace weft;
using namespace weft::collectives;
using weft::detail::make_reduction;

namespace {

collective_call broadcast_of(std::uint64_t bytes, peer_id root = 0) {
  return {kind::broadcast, 0, root, bytes};
}

}  // namespace

TEST_CASE("calls: one difference that sizes of messages do not show is one of the fingerprint") {
  for (peer_id r = 1; r != 512; ++r)
    CHECK(fingerprint(broadcast_of(100, r)) != fingerprint(broadcast_of(100)));
  for (std::uint8_t how = 1; how != 16; ++how)
    CHECK(fingerprint({kind::broadcast, how, 0, 100}) != fingerprint(broadcast_of(100)));
  std::vector<std::uint64_t> all;
  for (std::uint8_t k = 0; k != kinds; ++k)
    all.push_back(fingerprint({static_cast<kind>(k), 1, 0, 100}));
  CHECK(all.front() == 0);
  for (const std::uint16_t name :
       {make_reduction<int>(std::plus<>{}).name, make_reduction<int>(maximum{}).name,
        make_reduction<unsigned>(maximum{}).name, make_reduction<float>(maximum{}).name,
        make_reduction<int>([](int a, int) { return a; }).name})
    all.push_back(fingerprint({kind::scan, 1, 0, 100, name}));
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
  CHECK(all.back() <= proto::call_mask);
}

TEST_CASE("calls: a statement crosses as two words") {
  const collective_call made{kind::scan, 1, 54'321, std::uint64_t{1} << 47, 0xabcd};
  const statement told =
      statement::unpack(statement{12'345, 1'023, made}.packed(proto::statement_use::tells));
  CHECK(told.rank == 12'345);
  CHECK(told.sequence == 1'023);
  CHECK(told.made == made);
  const std::uint64_t large = (std::uint64_t{1} << 33) - 2;
  const statement asked =
      statement::unpack(statement{12'345, large, made}.packed(proto::statement_use::asks));
  CHECK(asked.sequence == large);
  CHECK(asked.made == made);
  // What no member says.
  const statement wrong = statement::unpack({proto::statement_use::asks, ~0ull, ~0ull});
  CHECK_FALSE(describe(wrong.made).empty());
}

TEST_CASE("calls: a description names what was asked for") {
  CHECK(describe({}) == "barrier");
  CHECK(describe(broadcast_of(600'000, 2)) == "broadcast of 600000 bytes from root 2");
  CHECK(describe({kind::gather, 1, 1, of_parts}) == "gather of parts of different sizes to root 1");
  CHECK(describe({kind::all_reduce, 1, 0, 16, make_reduction<double>(std::plus<>{}).name}) ==
        "all_reduce of 16 bytes, by plus of floating-point numbers of 8 bytes");
  CHECK(describe({kind::all_gather, 1, 0, 8, detail::name_of_split}) ==
        "all_gather of 8 bytes, of a split");
}

TEST_CASE("calls: the log knows the last ones, by their numbers and by tags") {
  call_log log;
  for (const std::uint64_t n : {0u, 3u, 1'023u})
    CHECK_FALSE(log.find(log.last(proto::message_tag(5, n))));
  for (std::uint64_t i = 0; i != 3'000; ++i) {
    CHECK(log.begin(broadcast_of(i)) == i);
    const auto found = log.find(i);
    REQUIRE(found);
    CHECK(*found == broadcast_of(i));
    CHECK(log.last(proto::message_tag(5, i)) == i);
    CHECK_FALSE(log.find(i + 1));
    // A tag of a call that is to come is that of one long ago, of which nothing is known.
    CHECK_FALSE(log.find(log.last(proto::message_tag(5, i + 1))));
  }
  CHECK(log.find(2'990));
  CHECK_FALSE(log.find(2'900));
  CHECK_FALSE(log.find(2'990 - 1'024));
}

TEST_CASE("calls: what came before a call is remembered until its end") {
  call_log log;
  const std::uint64_t own = fingerprint(broadcast_of(8));
  const auto tag_of = [](std::uint64_t n, std::uint64_t call) {
    return proto::message_tag(5, n, call);
  };
  log.hear(tag_of(0, own), 7);
  log.hear(tag_of(64, own ^ 1), 8);  // far ahead
  log.begin(broadcast_of(8));
  CHECK(log.take_heard(tag_of(0, own)) == no_peer);  // it fits
  log.hear(tag_of(0, own ^ 1), 7);                   // it is no longer to come
  CHECK(log.take_heard(tag_of(0, own)) == no_peer);
  log.hear(tag_of(1, own ^ 1), 7);
  log.begin(broadcast_of(8));
  log.hear(tag_of(65, own), 8);
  CHECK(log.take_heard(tag_of(1, own)) == 7);
  CHECK(log.take_heard(tag_of(1, own)) == no_peer);
  log.hear(proto::barrier_tag(5, 3, 2), 9);
  CHECK(log.take_heard(tag_of(2, 0)) == no_peer);
  // What was never looked at does not count 1024 calls later.
  log.hear(tag_of(3, own ^ 1), 7);
  for (int i = 0; i != 300; ++i) log.begin(broadcast_of(8));
  log.hear(tag_of(3 + 320, own), 8);
  CHECK(log.take_heard(tag_of(3, own)) == no_peer);
}

TEST_CASE("calls: a message that fits hides none of another call that came after it") {
  call_log log;
  const std::uint64_t own = fingerprint(broadcast_of(8));
  const std::uint64_t fits = proto::message_tag(5, 0, own),
                      other = proto::message_tag(5, 0, own ^ 1);
  const bool fits_first = GENERATE(false, true);
  log.hear(fits_first ? fits : other, fits_first ? 7 : 8);
  log.hear(fits_first ? other : fits, fits_first ? 8 : 7);
  log.hear(fits, 9);
  log.hear(proto::message_tag(5, 64, own ^ 2), 10);  // shares the place
  log.begin(broadcast_of(8));
  CHECK(log.take_heard(fits) == 8);
  CHECK(log.take_heard(fits) == no_peer);
}

TEST_CASE("collectives: ranges that overlap are refused, but for the own part in its place") {
  std::vector<std::byte> all(40);
  const mutable_buffer a(all);
  const auto refused = [](auto check) {
    try {
      check();
    } catch (const error& e) {
      return e.kind() == errc::invalid_argument;
    }
    return false;
  };
  const auto apart = [&](const_buffer x, const_buffer y, const std::byte* place = nullptr) {
    return !refused([&] { check_apart(kind::all_to_all, x, y, place); });
  };
  CHECK(apart(a.first(20), a.subspan(20)));
  CHECK(apart(a.subspan(20), a.first(20)));
  CHECK(apart(a.first(0), a));
  CHECK_FALSE(apart(a, a));
  CHECK_FALSE(apart(a.first(20), a.subspan(19)));
  CHECK_FALSE(apart(a.subspan(19), a.first(20)));
  CHECK(apart(a.subspan(10, 10), a, a.data() + 10));
  CHECK_FALSE(apart(a.subspan(11, 10), a, a.data() + 10));
  CHECK(apart(a, a, a.data()));
}

TEST_CASE("reductions: an operation gets copies of elements that another process may write") {
  struct note_addresses {
    std::vector<const int*>* seen;
    int operator()(const int& a, const int& b) const {
      seen->push_back(&a);
      seen->push_back(&b);
      return a + b;
    }
  };
  std::vector<int> left(21, 1), right(21, 2), out(21);
  std::vector<const int*> seen;
  make_reduction<int>(note_addresses{&seen})(std::as_bytes(std::span(left)),
                                             std::as_bytes(std::span(right)),
                                             std::as_writable_bytes(std::span(out)).data());
  CHECK(out == std::vector<int>(21, 3));
  CHECK(seen.size() == 42);
  const auto is_in = [](const std::vector<int>& memory) {
    return [&](const int* at) { return at >= memory.data() && at < memory.data() + memory.size(); };
  };
  CHECK(std::none_of(seen.begin(), seen.end(), is_in(left)));
  CHECK(std::none_of(seen.begin(), seen.end(), is_in(right)));
}
