// SPDX-License-Identifier: Apache-2.0
// The payload scheme that is measured, under virtual time: a transfer takes as long as one frame.
#include "net.hpp"

using namespace net;
using weft::proto::payload_scheme;

namespace {

constexpr std::size_t most_eager = 48u << 10;
constexpr std::size_t long_size = 64u << 10;

fake::settings measured() {
  fake::settings s;
  s.memory = fake::memory::readable;
  s.later = true;
  s.measures = true;
  return s;
}

/// Messages one after the other. \param early the receive is posted before its message is sent;
/// else
///   when all that goes without a request has come
void exchange(nodes& n, int messages, bool early) {
  const bytes out = pattern(long_size);
  for (int i = 0; i != messages; ++i) {
    bytes in(long_size);
    std::shared_ptr<receiving> receive;
    if (early) receive = n[1].recv(0, in, tag{1});
    const auto send = n[0].send(1, out, tag{1});
    n.settle();
    if (!receive) receive = n[1].recv(0, in, tag{1});
    n.settle();
    REQUIRE(send->ended_with(errc::ok));
    REQUIRE(receive->ended_with(errc::ok));
    REQUIRE((in == out));
  }
}

}  // namespace

TEST_CASE("measured: whole messages count, whatever comes before their receive") {
  const bool early = GENERATE(true, false);
  CAPTURE(early);
  nodes n(2, measured(), {64u << 20, most_eager});
  exchange(n, 60, early);
  const weft::proto::scheme_costs& costs = n[1].messages.costs().of("fake");
  CHECK(costs.cost(payload_scheme::frames, long_size) != 0);
  CHECK(costs.cost(payload_scheme::get, long_size) != 0);
  // Not what follows the eager data, as a message of that size.
  CHECK(costs.cost(payload_scheme::frames, long_size - most_eager) == 0);
  CHECK(costs.cost(payload_scheme::get, long_size - most_eager) == 0);
}

TEST_CASE("measured: a message that waits for its receive is not dearer for that") {
  nodes n(2, measured(), {64u << 20, most_eager});
  exchange(n, 60, true);
  const weft::proto::scheme_costs& costs = n[1].messages.costs().of("fake");
  const double before = costs.cost(payload_scheme::get, long_size);
  const std::uint64_t read = n[1].messages.snapshot().rendezvous_gets;
  for (int i = 0; i != 60; ++i) {
    n.world.at(n.world.elapsed() + std::chrono::milliseconds(10), [] {});
    exchange(n, 1, false);
  }
  CHECK(n[1].messages.snapshot().rendezvous_gets > read + 40);
  CHECK(costs.cost(payload_scheme::get, long_size) < 2 * before);
}
