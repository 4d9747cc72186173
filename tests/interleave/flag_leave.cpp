// SPDX-License-Identifier: Apache-2.0
// Threads of one member that leave rounds in any order, and one that begins the next call at that
// moment. All that is left is published in the end, and a call does not wait for ever for a round
// of its own member.
// clang-format off
// always: src/runtime/flags/flag_segment.hpp: wakeup_sender bell_; => quiet_bell bell_;
// always: src/runtime/flags/flag_segment.cpp: make_memory_file("weft-flags", l.size()) => unique_fd()
// always: src/runtime/flags/flag_segment.cpp: map_own(memory, l.size()) => lent(memory, l.size())
// always: src/runtime/flags/flag_segment.cpp: map_from_peer(memory, l.size(), true) => lent(memory, l.size())
// always: src/collectives/flags/flag_rounds.hpp: window = 64; => window = 4;
// always: src/collectives/flags/flag_rounds.hpp: short_slots{16, 8 * 1024, 0}; => short_slots{2, 64, 0};
// always: src/collectives/flags/flag_rounds.hpp: long_slots{2, 64 * 1024, => long_slots{1, 128,
// mutation NEVER_GO_ON: src/collectives/flags/flag_rounds.cpp: while (over_ => while (false && over_
// mutation NOTE_RELEASED: src/collectives/flags/flag_rounds.cpp: store(round + 1, std::memory_order_seq_cst); => store(round + 1, std::memory_order_release);
// mutation LEFT_RELEASED: src/collectives/flags/flag_rounds.cpp: left_.store(++oldest, std::memory_order_seq_cst); => left_.store(++oldest, std::memory_order_release);
// mutation NOTE_ACQUIRED: src/collectives/flags/flag_rounds.cpp: load(std::memory_order_seq_cst) == oldest + 1 => load(std::memory_order_acquire) == oldest + 1
// mutation LEFT_ACQUIRED: src/collectives/flags/flag_rounds.cpp: oldest = left_.load(std::memory_order_seq_cst); => oldest = left_.load(std::memory_order_acquire);
// mutation GO_ON_IN_TWO_STEPS: src/collectives/flags/flag_rounds.cpp: if (left_.compare_exchange_strong(oldest, oldest + 1, std::memory_order_seq_cst)) ++oldest; => left_.store(++oldest);
// mutation KEEP_FROM_OWN_CALLS: src/collectives/flags/flag_rounds.cpp: || next_.load(std::memory_order_seq_cst) != oldest => nothing
// mutation NEXT_ACQUIRED: src/collectives/flags/flag_rounds.cpp: next_.load(std::memory_order_seq_cst) => next_.load(std::memory_order_acquire)
// mutation PUBLISH_UNFENCED: src/collectives/flags/flag_rounds.hpp: std::memory_order_seq_cst);  // `begin` => std::memory_order_acquire);  // `begin`
// mutation PUBLISH_WITHOUT_ORDER: src/collectives/flags/flag_rounds.cpp: while (before < left) => while (true)
// mutation TELL_NO_SLEEPER: src/collectives/flags/flag_rounds.cpp: segment_->tell_sleepers(); => nothing
// mutation RING_OTHERS_ONLY: src/runtime/flags/flag_segment.cpp: if ((asleep & 1) == 0 || => if (n == self_ || (asleep & 1) == 0 ||
// clang-format on
#include "flag_members.hpp"
#include "scenario.hpp"

namespace {

using namespace shared;

struct state {
  const weft::unique_fd& file = fresh_memory();
  member first{file, 0}, second{file, 1};
};

/// Calls end in another order than they began. Then the thread of the last one goes on to a wait in
/// the next call; or none does, and the member comes to a wait later.
void in_any_order(interleave::run& now, const std::shared_ptr<state>& s, unsigned rounds) {
  const bool waits = interleave::any_of(2) == 1;
  s->first.rounds().begin(rounds);
  for (unsigned r = 0; r != rounds; ++r)
    now.thread([s, r, goes_on = waits && r + 1 == rounds] {
      s->first.rounds().leave(r);
      if (!goes_on) return;
      s->first.rounds().begin(1);
      s->first.rounds().publish();
    });
  now.at_end([s, waits, rounds] {
    if (!waits) s->first.rounds().publish();
    interleave::expect(s->first.published() == rounds, "not all is published that was left");
  });
}

/// A call begins that needs the slot of the call that ends.
void own(interleave::run& now, const std::shared_ptr<state>& s) {
  for (member* m : {&s->first, &s->second}) m->rounds().begin(1);
  s->second.rounds().leave(0);
  s->second.rounds().publish();
  now.thread([s] { s->first.rounds().leave(0); });
  now.thread([s] {
    made next(s->first, 1, 128, 0, from_root);
    s->first.sleeping(next.call);
  });
}

}  // namespace

interleave::bounds within() { return {.preemptions = 1, .delays = 1, .stale = 1}; }

void scenario(interleave::run& now) {
  const unsigned which = interleave::any_of(3);
  const auto s = std::make_shared<state>();
  if (which == 0) in_any_order(now, s, 2);
  if (which == 1) in_any_order(now, s, 3);
  if (which == 2) own(now, s);
}
