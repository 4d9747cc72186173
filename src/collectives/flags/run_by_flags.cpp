// SPDX-License-Identifier: Apache-2.0
#include "collectives/collective.hpp"
#include "collectives/flags/flag_call.hpp"
#include "runtime/os/pause.hpp"

namespace weft::collectives {

namespace {

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

/// Looks for a moment. On a crowded host the others need this core to come at all, and to yield it
/// costs less than to sleep; where neighbours keep it, the engine has the better ways to wait.
bool comes_soon(const flag_request& all, communicator& of) noexcept {
  constexpr int looks = 160, looks_when_crowded = 64;
  const bool crowded = of.engine().is_crowded();
  for (int i = 0; i != (crowded ? looks_when_crowded : looks); ++i) {
    if (all.try_now()) return true;
    if (!crowded)
      runtime::cpu_pause();
    else if (!of.flags()->yields().yield())
      return false;
  }
  return all.try_now();
}

/// Goes on until the call has to wait. \return what for; nothing: it is over
std::optional<flag_request> next_wait(const collective& c, flag_call& call) {
  communicator& group = c.of();
  group_flags& flags = *group.flags();
  const auto disagree = [&](peer_id member, const flag_call::words& theirs) {
    group.disagree(flags.member(member), {flag_words_use, theirs.first, theirs.second});
  };
  while (const auto lacking = call.next(disagree)) {
    const auto all = flags.until(*lacking);
    if (all.try_now()) continue;
    flags.rounds().publish();
    if (comes_soon(all, group)) continue;
    flags.enter(call.number(), c.number());
    if (call.is_last_wait()) c.leave_background(0);
    group.waits();
    return all;
  }
  return std::nullopt;
}

}  // namespace

task<void> run_by_flags(detail::communicator_ptr of, collective_call made, arguments with,
                        const flag_steps& steps) {
  group_flags& flags = *of->flags();
  const bool early = is_early(*of, made);
  if (of->begun() >= group_flags::calls_by_messages / 2 || !early) flags.make_at_first_rank();
  if (early) {
    made.how = without_flags(*of, made, with);
    const auto& way = table_of(made.what).algorithms[made.how];
    co_return co_await way.body(detail::communicator_ptr(of), made, std::move(with));
  }

  flag_call call(flags.rounds(), words_of({0, of->begun(), made}), made.bytes, with, steps);
  const collective c = co_await begin(of, made, with.number, call.moves_others());
  std::exception_ptr failure;
  std::optional<bool> usable;
  try {
    usable = flags.usable();
    if (!usable) usable = co_await flags.settles();
    while (const auto wait = *usable ? next_wait(c, call) : std::nullopt) co_await *wait;
  } catch (...) {
    failure = std::current_exception();
  }
  co_await c.end(std::move(failure));
  if (*usable) co_return;
  with.number = c.number();
  const auto& way = table_of(made.what).algorithms[without_flags(*of, made, with)];
  co_await way.body(std::move(of), made, std::move(with));
}

task<bool> go_by_flags(const collective& part, flag_call& call) {
  group_flags& flags = *part.of().flags();
  flags.make_at_first_rank();
  std::optional<bool> usable = flags.usable();
  if (!usable) usable = co_await flags.settles();
  while (const auto wait = *usable ? next_wait(part, call) : std::nullopt) co_await *wait;
  co_return *usable;
}

const char* unfit_for_flags(const collective_size& c, const group_shape& g) {
  if (!g.flags || !g.one_host) return "the group does not share memory on one host";
  if (c.bytes == of_parts) return "parts of different sizes";
  return c.element > flag_rounds::long_slots.bytes ? "an element is longer than a slot" : nullptr;
}

}  // namespace weft::collectives
