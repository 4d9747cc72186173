// SPDX-License-Identifier: Apache-2.0
// How a side over verbs that has something to say leaves.
#include "ends.hpp"

using namespace ends;

namespace {

bool drain(end& e) {
  const engine::holder hold(e.turns);
  return e.transport.drain_peer(e.in);
}

}  // namespace

TEST_CASE("verbs: a drain waits until the last frame has arrived") {
  fabric net;
  end a(net), b(net);
  connect(a, b);
  net.half = true;
  REQUIRE(a.send(numbered(1), pattern(8)) == post::done);
  // The first call says the last word; neither it nor a later one takes it for heard.
  for (int i = 0; i != 3; ++i) CHECK_FALSE(drain(a));
  CHECK(a.send(numbered(2)) == post::failed);
  net.half = false;
  net.go_on();
  settle(a, b);
  CHECK(drain(a));
  CHECK(b.in.frames.size() == 1);
  CHECK(a.in.broken.empty());
}

TEST_CASE("verbs: a drain ends with its connection, also where that fails after the last word") {
  fabric net;
  verbs::settings s;
  s.peer_timeout = std::chrono::seconds(0);  // then the port is down for long at once
  end a(net, s), b(net);
  connect(a, b);
  net.half = true;
  REQUIRE(a.send(numbered(1)) == post::done);
  CHECK_FALSE(drain(a));
  SECTION("the connection breaks") {
    net.half = false;
    net.cut = true;
    net.go_on();
  }
  SECTION("the port is given up") {
    a.hardware.port_up = false;
    a.hardware.tell({"PORT_ERR", {}, false, true});
  }
  CHECK(eventually(a, b, [&] { return drain(a); }));
}
