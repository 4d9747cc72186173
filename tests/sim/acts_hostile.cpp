// SPDX-License-Identifier: Apache-2.0
// The acts of a rank that breaks the rules against one of the others.
#include <algorithm>
#include <memory>

#include "sim/acts.hpp"

namespace sim {

using namespace std::chrono_literals;
using weft::transports::post;

namespace {

/// One visit: some frames, a few at a time, and then its end.
struct visit {
  dice chance;
  weft::tests::temper mood;
  node self;
  node victim;
  unsigned frames;          // left
  unsigned patience = 300;  // how often it waits for room, or for a link
  unsigned deaf;            // percent of the pauses in which it reads nothing
};

/// The last act of the visit, if any.
void end_visit(job& j, visit& v) {
  if (v.chance.percent(10))
    j.hostile()->stop_in_next(static_cast<std::uint32_t>(v.chance.below(100)));
  if (v.chance.percent(10)) return j.kill(v.self);
  if (v.chance.percent(10)) return j.leave(v.self);
}

void go_on(job& j, const std::shared_ptr<visit>& v) {
  hostile_rank* const h = j.hostile();
  if (!h) return;
  post answer = post::busy;
  for (std::uint64_t n = v->chance.between(1, 64); n != 0 && v->frames != 0; --n) {
    answer = h->has_links(v->victim) ? h->speak(v->victim, v->chance, v->mood) : post::busy;
    if (answer != post::done) break;
    --v->frames;
  }
  if (answer == post::failed || v->frames == 0 || (answer == post::busy && --v->patience == 0))
    return end_visit(j, *v);
  const nanoseconds pause = v->chance.up_to(v->chance.percent(90) ? 5us : 100us);
  if (v->chance.percent(v->deaf)) j.world().stall(v->self, j.world().elapsed() + pause);
  j.world().at(j.world().elapsed() + pause, [&j, v] { go_on(j, v); });
}

}  // namespace

void stage_hostility(job& j, const act& a) {
  dice d = a.chance;
  const weft::tests::temper mood = weft::tests::throw_temper(d);
  const auto most = static_cast<unsigned>(d.percent(20) ? 10'000 : 300);
  auto frames = static_cast<unsigned>(d.between(1, most));
  frames = std::min(frames, j.plan().wanted.frames.value_or(frames));
  const unsigned deaf = d.percent(30) ? 100 : d.percent(30) ? 50 : 0;
  const auto v =
      std::make_shared<visit>(visit{d.part(1), mood, a.first, a.second, frames, 300, deaf});
  j.world().at(a.when, [&j, v] {
    if (!j.hostile()) return;
    j.want_hostile_links(v->victim);
    go_on(j, v);
  });
}

}  // namespace sim
