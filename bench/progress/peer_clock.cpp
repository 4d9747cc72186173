// SPDX-License-Identifier: Apache-2.0
#include "progress/peer_clock.hpp"

#include <limits>

#include "support/clock.hpp"

namespace weft::bench {
namespace {

constexpr int looks = 10;

}  // namespace

task<std::int64_t> ask_clock(const side& me) {
  if (me.one_clock) co_return 0;
  std::int64_t ahead = 0, fastest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i != looks; ++i) {
    const std::int64_t start = now_ns();
    co_await me.peer.send(const_buffer{}, ack_tag);
    const auto theirs = co_await me.peer.recv_value<std::int64_t>(ack_tag);
    const std::int64_t took = now_ns() - start;
    if (took >= fastest) continue;
    fastest = took;
    ahead = theirs - (start + took / 2);
  }
  co_return ahead;
}

task<void> show_clock(const side& me) {
  if (me.one_clock) co_return;
  for (int i = 0; i != looks; ++i) {
    co_await me.peer.recv(mutable_buffer{}, ack_tag);
    co_await me.peer.send_value(ack_tag, now_ns());
  }
}

}  // namespace weft::bench
