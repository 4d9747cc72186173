// SPDX-License-Identifier: Apache-2.0
// A peer that reads nothing is not lost while its host answers: it may be a process that is
// stopped, or that computes.
#include <thread>

#include "ends.hpp"

using namespace ends;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t frame_bytes = 8000;

struct conversation {
  end from{{"lo"}, "auto", 2s}, to;
  std::size_t sent = 0;

  conversation() {
    connect(from, to);
    REQUIRE(eventually({&from, &to}, [&] { return say(); }));
  }
  bool say() {
    if (from.send({}, pattern(frame_bytes, sent)) != post::done) return false;
    ++sent;
    return true;
  }
  /// Checks that all sent messages arrive, in order.
  void drain_all_peers() {
    REQUIRE(eventually({&from, &to}, [&] { return to.in.frames.size() == sent; }));
    for (std::size_t i = 0; i != sent; ++i)
      REQUIRE(to.in.frames[i].payload == pattern(frame_bytes, i));
  }
};

}  // namespace

TEST_CASE("tcp: a peer that reads nothing for longer than the peer timeout is not lost") {
  // A connection whose socket takes nothing more, and one whose socket has taken all, more than its
  // peer's.
  conversation full, half;
  while (full.say()) {
  }
  while (half.sent < full.sent * 3 / 4) {
    REQUIRE(half.say());
    full.from.turns.poll_once();  // on a slow machine this takes longer than the timeout
  }
  const auto until = std::chrono::steady_clock::now() + 6s;
  while (std::chrono::steady_clock::now() < until) {
    for (conversation* c : {&full, &half}) c->from.turns.poll_once();
    std::this_thread::sleep_for(1ms);
  }
  CHECK(full.from.in.broken.empty());
  CHECK(half.from.in.broken.empty());
  full.drain_all_peers();
  half.drain_all_peers();
}
