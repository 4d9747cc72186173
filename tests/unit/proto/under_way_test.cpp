// SPDX-License-Identifier: Apache-2.0
// What a transport is told of messages with further frames that come unasked.
#include <set>

#include "net.hpp"

using namespace net;

namespace {

constexpr std::size_t asked_above = 64u << 10;  // eager_limit

/// What node 1 reports of node 0, after every step until nothing moves.
std::set<std::uint64_t> told_of(nodes& n) {
  std::set<std::uint64_t> all;
  do all.insert(n[1].to(0).under_way());
  while (n.step());
  return all;
}

}  // namespace

TEST_CASE("under way: a message from its first frame to its last, if its receive waits") {
  for (const std::size_t size : {asked_above, 20 * asked_above}) {
    nodes n(2);
    const bytes out = pattern(size);
    bytes in(size);
    n[1].recv(0, in, tag{1});
    n[0].send(1, out, tag{1});
    CHECK(told_of(n) == std::set<std::uint64_t>{0, size});
    CHECK(n[1].to(0).under_way() == 0);
    CHECK((in == out));
  }
}

TEST_CASE("under way: what nobody has asked for yet is not") {
  nodes n(2);
  const bytes out = pattern(20 * asked_above);
  bytes in(out.size());
  n[0].send(1, out, tag{1});
  n.settle();
  CHECK(n[1].to(0).under_way() == 0);
  n[1].recv(0, in, tag{1});
  CHECK(told_of(n) == std::set<std::uint64_t>{0, out.size()});
  CHECK((in == out));
}

TEST_CASE("under way: a message of one frame never is") {
  nodes n(2);
  const bytes out = pattern(1000);
  bytes in(out.size());
  n[1].recv(0, in, tag{1});
  n[0].send(1, out, tag{1});
  CHECK(told_of(n) == std::set<std::uint64_t>{0});
  CHECK((in == out));
}
