// SPDX-License-Identifier: Apache-2.0
// Probes: they tell of a message, and leave it.
#include "net.hpp"

using namespace net;
using weft::any_tag;
using weft::probe_request;

namespace {

probing probe_of(side& s, fake::node from, tag_mask t) {
  return probing(probe_request{&s.messages, &s.to(from), t});
}

}  // namespace

TEST_CASE("probe: tells of a message and leaves it") {
  nodes n(2);
  const std::size_t size = GENERATE(0u, 10u, 30'000u, 500'000u);
  const bytes out = pattern(size);
  const bool early = GENERATE(true, false);
  CHECK_FALSE(n[1].messages.receives().try_probe(nullptr, any_tag));
  probing probe = probe_of(n[1], 0, tag_mask(0x10, 0xf0));
  probing elsewhere = probe_of(n[1], 0, tag{0x20});
  elsewhere.go();
  if (early) probe.go();
  auto send = n[0].send(1, out, tag{0x17});
  n.settle();
  if (!early) probe.go();
  REQUIRE(probe.ended_with(errc::ok));
  CHECK(probe.got.size == size);
  CHECK(probe.got.source == 0);
  CHECK(probe.got.tag == tag{0x17});
  const auto seen = n[1].messages.receives().try_probe(&n[1].to(0), any_tag);
  REQUIRE(seen);
  CHECK(seen->size == size);
  bytes in(size);
  auto receive = n[1].recv(0, in, tag{0x17});
  n.settle();
  CHECK(receive->ended_with(errc::ok));
  CHECK((in == out));
  CHECK_FALSE(n[1].messages.receives().try_probe(nullptr, any_tag));
  elsewhere.cancel();
  n.settle();
  CHECK(elsewhere.ended_with(errc::stopped));
  CHECK(n.clean());
}

TEST_CASE("probe: several of them, and a receive behind, are served by one message") {
  nodes n(2);
  const bytes out = pattern(100);
  bytes in(100);
  probing first = probe_of(n[1], 0, tag{1});
  probing second(probe_request{&n[1].messages, nullptr, any_tag});
  first.go();
  second.go();
  auto receive = n[1].recv(0, in, tag{1});
  auto send = n[0].send(1, out, tag{1});
  n.settle();
  CHECK(first.ended_with(errc::ok));
  CHECK(second.ended_with(errc::ok));
  CHECK(receive->ended_with(errc::ok));
  CHECK((in == out));
}
