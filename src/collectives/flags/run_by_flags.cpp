// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstring>

#include <weft/coro/time.hpp>

#include "collectives/collective.hpp"
#include "collectives/flags/flag_round.hpp"
#include "runtime/os/pause.hpp"

namespace weft::collectives {

namespace {

using words = proto::group_statement;

/// Between two looks whether all members have the segment.
constexpr std::chrono::microseconds shortest_pause{10}, longest_pause{1000};

/// Whether members go by messages still. With flags asked for, the first call waits for them.
bool is_early(const communicator& of, const collective_call& made) noexcept {
  return of.begun() < group_flags::calls_by_messages &&
         of.shape().forced[static_cast<std::size_t>(made.what)] != made.how + 1;
}

/// The algorithm that the group would use without flags.
std::uint8_t without_flags(const communicator& of, const collective_call& made,
                           const arguments& with) noexcept {
  group_shape shape = of.shape();
  shape.flags = false;
  return choose({made.what, made.bytes, with.how.commutative, with.how.element}, shape);
}

/// Looks for a moment.
bool comes_soon(const runtime::flag_request& all, int looks) noexcept {
  for (int i = 0; i != looks; ++i) {
    if (all.try_now()) return true;
    runtime::cpu_pause();
  }
  return all.try_now();
}

/// What a member has called: with its flag.
void write_call(std::byte* at, const words& w) noexcept {
  std::memcpy(at, &w.first, sizeof w.first);
  std::memcpy(at + sizeof w.first, &w.second, sizeof w.second);
}
words call_at(const std::byte* at) noexcept {
  words w{proto::statement_use::asks, 0, 0};
  std::memcpy(&w.first, at, sizeof w.first);
  std::memcpy(&w.second, at + sizeof w.first, sizeof w.second);
  return w;
}

}  // namespace

task<void> run_by_flags(detail::communicator_ptr of, collective_call made, arguments with,
                        const flag_steps& steps, const part_by_flags* part) {
  communicator& group = part ? part->of.of() : *of;
  group_flags& flags = *group.flags();
  const bool early = !part && is_early(group, made);
  if (group.begun() >= group_flags::calls_by_messages / 2 || !early) flags.make_at_first_rank();
  if (early) {
    made.how = without_flags(*of, made, with);
    const auto& way = table_of(made.what).algorithms[made.how];
    co_return co_await way.body(detail::communicator_ptr(of), made, std::move(with));
  }

  const int looks = group.engine().is_crowded() ? 0 : 40;
  flag_round r(flags, part ? part->bytes : made.bytes, with, steps);
  const std::uint64_t rounds = r.rounds();
  std::optional<collective> whole;
  if (!part) whole.emplace(co_await begin(of, made, with.number, rounds > 1 || steps.finish));
  const collective& c = part ? part->of : *whole;
  std::exception_ptr failure;
  std::optional<bool> usable;
  try {
    r.begin(part ? part->first_round : flags.begin(rounds));
    for (auto pause = shortest_pause; !(usable = flags.usable());
         pause = std::min(2 * pause, longest_pause)) {
      group.check();
      co_await sleep_for(pause);
    }
    const words own = statement{0, c.number(), c.made()}.packed(proto::statement_use::asks);
    for (std::uint64_t k = 0; *usable && k != rounds; ++k, r.next()) {
      const std::uint64_t round = r.number();
      flags.enter(round, c.number());
      if (!flags.has_room(round, r.depth())) {
        group.waits();
        co_await flags.room(round, r.depth());
      }
      if (steps.give(r)) {
        write_call(flags.line(round, r.rank()).with, own);
        flags.arrive(round);
      }
      const rank_range awaited = steps.awaits(r);
      if (const auto all = flags.arrived(round, awaited.first, awaited.count);
          !comes_soon(all, looks)) {
        if (k + 1 == rounds && !steps.finish) c.leave_background(0);
        group.waits();
        co_await all;
      }
      for (peer_id m = awaited.first; m != awaited.first + awaited.count; ++m)
        if (const words theirs = call_at(flags.line(round, m).with);
            theirs.first != own.first || theirs.second != own.second) [[unlikely]]
          group.disagree(flags.member(m), theirs);
      steps.take(r);
      if (steps.finish) {
        flags.arrive(round, true);
        if (steps.has_finish(r)) {
          if (const auto all = flags.arrived(round, 0, r.size(), true); !all.try_now()) {
            group.waits();
            co_await all;
          }
          steps.finish(r);
        }
      }
      flags.leave(round);
    }
  } catch (...) {
    failure = std::current_exception();
  }
  if (part) {
    if (failure) std::rethrow_exception(failure);
    *part->usable = *usable;
    co_return;
  }
  co_await c.end(std::move(failure));
  if (*usable) co_return;
  with.number = c.number();
  const auto& way = table_of(made.what).algorithms[without_flags(*of, made, with)];
  co_await way.body(std::move(of), made, std::move(with));
}

const char* unfit_for_flags(const collective_size& c, const group_shape& g) {
  if (!g.flags || !g.one_host) return "the group does not share memory on one host";
  if (c.bytes == of_parts) return "parts of different sizes";
  return c.element > group_flags::long_slots.bytes ? "an element is longer than a slot" : nullptr;
}

}  // namespace weft::collectives
