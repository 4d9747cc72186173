// SPDX-License-Identifier: Apache-2.0
// Completions wake a sleeping thread, also those of a moment before.
#include <poll.h>
#include <sys/epoll.h>

#include "ends.hpp"

using namespace ends;

namespace {

bool readable(const end& e) {
  pollfd fd{e.transport.handle(), POLLIN, 0};
  return ::poll(&fd, 1, 0) == 1;
}

}  // namespace

TEST_CASE("verbs: armed 100,000 times, whatever arrives before or after is told of") {
  fabric net;
  end a(net), b(net);
  connect(a, b);
  std::uint64_t sent = 0;
  for (int i = 0; i != 100'000; ++i) {
    const bool before = i % 3 == 0, after = i % 3 == 1;
    if (before && a.send(numbered(sent)) == post::done) ++sent;
    bool work = false;
    {
      const engine::holder hold(b.turns);
      b.transport.arm();
      if (after) {
        // As when it completes between the arming and the sleep.
        if (a.send(numbered(sent)) == post::done) ++sent;
      }
      work = readable(b);
      if (work) b.transport.on_ready();
    }
    if (work != (before || after)) FAIL("round " << i);
    while (b.turns.poll_once() != 0) continue;
    a.turns.poll_once();
    if (readable(b)) {
      const engine::holder hold(b.turns);
      b.transport.on_ready();
      b.transport.poll();
    }
    if (b.in.frames.size() != sent) FAIL("round " << i);
  }
}

TEST_CASE("verbs: the last look before a sleep sees what has completed") {
  fabric net;
  end a(net), b(net);
  connect(a, b);
  const engine::holder hold(b.turns);
  CHECK(!b.transport.has_work());
  REQUIRE(a.send(numbered(1)) == post::done);
  CHECK(b.transport.has_work());
  CHECK(b.transport.poll() != 0);
  CHECK(b.in.frames.size() == 1);
  CHECK(!b.transport.has_work());
}
