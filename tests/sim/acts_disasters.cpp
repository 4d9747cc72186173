// SPDX-License-Identifier: Apache-2.0
// Disasters that happen to ranks.
#include <weft/coro/as_result.hpp>

#include "sim/acts.hpp"

namespace sim {

using namespace std::chrono_literals;

namespace {

weft::task<void> wait_for_end(watched_end end) { static_cast<void>(co_await weft::as_result(end)); }

}  // namespace

/// A slow reader: its core is busy elsewhere, once or again and again.
void stage_stall(job& j, const act& a) {
  dice d = a.chance;
  const auto times = d.percent(50) ? 1 : d.between(2, 10);
  nanoseconds when = a.when;
  for (std::uint64_t i = 0; i < times; ++i) {
    const nanoseconds length = d.up_to(d.percent(20) ? 2ms : 100us);
    j.when_there(a.first, when, [&j, length](rank& r) {
      j.history().event("rank {} stalls for {} ns", r.number(), length.count());
      j.world().stall(r.number(), j.world().elapsed() + length);
    });
    when += length + d.up_to(50us);
  }
}

void stage_death(job& j, const act& a) {
  j.when_there(a.first, a.when, [&j](rank& r) { j.kill(r.number()); });
}

void stage_leave(job& j, const act& a) {
  j.when_there(a.first, a.when, [&j](rank& r) { j.leave(r.number()); });
}

void stage_close(job& j, const act& a) {
  dice d = a.chance;
  const node other = a.second;
  if (d.percent(50))
    j.when_there(a.first, 0ns, [other](rank& r) { r.play(wait_for_end(r.closed(other))); });
  j.when_there(a.first, a.when, [&j, other](rank& r) { j.close(r.number(), other); });
}

void stage_cut(job& j, const act& a) {
  const node other = a.second;
  j.when_there(a.first, a.when, [&j, other](rank& r) { j.cut(r.number(), other); });
}

}  // namespace sim
