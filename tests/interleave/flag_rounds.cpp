// SPDX-License-Identifier: Apache-2.0
// Calls by flags in more rounds than the window has: members that run ahead, members that fall
// behind and say so late, and slots that are used in turn. No member waits for ever, and each one
// finds the bytes of its round.
// clang-format off
// always: src/runtime/flags/flag_segment.hpp: wakeup_sender bell_; => quiet_bell bell_;
// always: src/runtime/flags/flag_segment.cpp: make_memory_file("weft-flags", l.size()) => unique_fd()
// always: src/runtime/flags/flag_segment.cpp: map_own(memory, l.size()) => lent(memory, l.size())
// always: src/runtime/flags/flag_segment.cpp: map_from_peer(memory, l.size(), true) => lent(memory, l.size())
// always: src/collectives/flags/flag_rounds.hpp: window = 64; => window = 3;
// always: src/collectives/flags/flag_rounds.hpp: short_slots{16, 8 * 1024, 0}; => short_slots{2, 64, 0};
// always: src/collectives/flags/flag_rounds.hpp: long_slots{2, 64 * 1024, => long_slots{1, 128,
// always: src/collectives/flags/flag_rounds.hpp: most_unpublished = 4; => most_unpublished = 2;
// mutation NEVER_PUBLISH: src/collectives/flags/flag_rounds.hpp: publish(now); => static_cast<void>(now);
// mutation PUBLISH_TOO_MUCH: src/collectives/flags/flag_rounds.hpp: publish(now); => publish(now + 1);
// mutation WAIT_UNPUBLISHED: src/collectives/flags/run_by_flags.cpp: flags.rounds().publish(); => nothing
// mutation LEAVE_UNPUBLISHED: src/collectives/flags/flag_rounds.cpp: oldest - seen >= most_unpublished => oldest - seen >= kept
// mutation LEAVE_BEFORE_TAKING: src/collectives/flags/flag_call.hpp: rounds_.leave(number()); => nothing
// mutation LEAVE_BEFORE_TAKING: src/collectives/flags/flag_call.hpp: compare(disagree); => rounds_.leave(number()); compare(disagree);
// mutation FINISH_BEFORE_TAKING: src/collectives/flags/flag_call.hpp: steps_.take(round_); => rounds_.arrive(number(), true); steps_.take(round_);
// mutation TELL_NO_SLEEPER: src/collectives/flags/flag_rounds.cpp: segment_->tell_sleepers(); => nothing
// mutation WINDOW_OF_ONE_MORE: src/collectives/flags/flag_rounds.hpp: round + 1 - depth => round - depth
// mutation ROOM_BY_ONE_MEMBER: src/collectives/flags/flag_rounds.hpp: return {{0, n_}, round < depth => return {{0, 1}, round < depth
// mutation ROOM_OF_LAST_MEMBER: src/collectives/flags/flag_rounds.cpp: least = std::min(least, => least = std::max(0 * least,
// mutation SEE_TOO_MUCH: src/collectives/flags/flag_rounds.cpp: return least; => return least + 1;
// mutation KNOW_TOO_MUCH: src/collectives/flags/flag_rounds.cpp: known_left_.store(least, => known_left_.store(least + 1,
// mutation SLOTS_AS_FLAGS: src/collectives/flags/flag_round.hpp: flag_rounds::window : slots_.count => flag_rounds::window : flag_rounds::window
// mutation ONE_FLAG_FOR_BOTH_HALVES: src/collectives/flags/flag_rounds.hpp: (second ? window : 0) => (second ? 0 : 0)
// mutation ARRIVED_ONCE: src/collectives/flags/flag_rounds.hpp: second), count}, round + 1}; => second), count}, 1};
// mutation HAVE_RELAXED: src/runtime/flags/flag_segment.hpp: flags_[n].value.load(std::memory_order_acquire) => flags_[n].value.load(std::memory_order_relaxed)
// clang-format on
#include "flag_members.hpp"
#include "scenario.hpp"

namespace {

using namespace shared;

constexpr std::uint64_t in_line = 8, in_short_slot = 64, in_long_slot = 128;

struct state {
  const weft::unique_fd& file = fresh_memory();
  member first{file, 0}, second{file, 1};
  bool is_far = false;
};

void call(member& of, std::uint64_t number, std::uint64_t bytes, weft::peer_id root,
          const flag_steps& steps) {
  made one(of, number, bytes, root, steps);
  of.sleeping(one.call);
}

/// A member that has left so many rounds without a wait does not hold up one that is ahead, as far
/// as the window reaches from what it has to publish.
void ahead(interleave::run& now, const std::shared_ptr<state>& s) {
  constexpr std::uint64_t taken = flag_rounds::window + 2;
  constexpr std::uint64_t given = taken - (flag_rounds::most_unpublished - 1) + flag_rounds::window;
  now.thread([s] {
    for (std::uint64_t n = 0; n != given; ++n) call(s->first, n, in_line, 0, from_root);
  });
  now.thread([s] {
    for (std::uint64_t n = 0; n != taken; ++n) call(s->second, n, in_line, 0, from_root);
  });
}

/// Calls of two rounds, and calls that use slots of both kinds in turn.
void by_slots(interleave::run& now, const std::shared_ptr<state>& s, std::uint64_t bytes) {
  const auto all = [bytes](member& m) {
    call(m, 0, bytes, 0, from_root);
    call(m, 1, 2 * bytes, 0, from_root);
    call(m, 2, bytes, 1, from_root);
    call(m, 3, bytes, 1, from_root);
  };
  now.thread([s, all] { all(s->first); });
  now.thread([s, all] { all(s->second); });
}

void by_halves(interleave::run& now, const std::shared_ptr<state>& s) {
  const auto all = [](member& m) {
    for (std::uint64_t n = 0; n != 2; ++n) call(m, n, in_long_slot, 0, in_halves);
  };
  now.thread([s, all] { all(s->first); });
  now.thread([s, all] { all(s->second); });
}

/// A member that waits has published what it has left: here it waits for a call that comes only
/// when calls behind it have found room.
void late(interleave::run& now, const std::shared_ptr<state>& s) {
  const auto begin = [](member& m, std::uint64_t n) {
    return std::make_shared<made>(m, n, in_line, 0, from_root);
  };
  const auto zero = begin(s->first, 0), one = begin(s->first, 1), two = begin(s->first, 2),
             three = begin(s->first, 3);
  now.thread([s, zero, one] {
    s->first.polling(zero->call);
    interleave::wait_until([s] { return s->is_far; });
    s->first.polling(one->call);
  });
  now.thread([s, two, three] {
    s->first.sleeping(two->call);
    s->first.sleeping(three->call);
    s->is_far = true;
    interleave::changed();
  });
  now.thread([s] {
    for (std::uint64_t n = 0; n != 4; ++n) call(s->second, n, in_line, 0, from_root);
  });
}

}  // namespace

// No store waits in a buffer: with one the search takes minutes. Where the order of a store and a
// load matters there are smaller scenarios: flag, flag_leave.
interleave::bounds within() { return {.preemptions = 1, .delays = 0, .stale = 1}; }

void scenario(interleave::run& now) {
  const unsigned which = interleave::any_of(5);
  const auto s = std::make_shared<state>();
  if (which == 0) ahead(now, s);
  if (which == 1) by_slots(now, s, in_short_slot);
  if (which == 2) by_slots(now, s, in_long_slot);
  if (which == 3) by_halves(now, s);
  if (which == 4) late(now, s);
}
