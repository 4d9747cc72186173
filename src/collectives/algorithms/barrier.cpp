// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>

#include "collectives/algorithms/parts.hpp"
#include "collectives/flags/steps.hpp"

namespace weft {

namespace collectives {
namespace {

/// Dissemination barrier (Hensgen, Finkel, Manber 1988): in step k each rank signals the rank 2^k
/// further on, so that after log2(n) steps each rank has heard from all, directly or not. By
/// signals, which pass messages that no receive has taken. In one coroutine, as
/// all_reduce_doubling, also for its `part`.
task<void> disseminate(detail::communicator_ptr group, collective_call made, std::uint64_t number,
                       const collective* part = nullptr) {
  std::optional<collective> whole;
  if (!part) whole.emplace(co_await begin(group, made, number));
  const collective& c = part ? *part : *whole;
  // The steps of a slice are not those of its hosts.
  const unsigned first = part && !c.shape().one_host ? (proto::step_mask + 1) / 2 : 0;
  std::exception_ptr failure;
  try {
    for (unsigned k = 0; (std::uint64_t{1} << k) < c.size(); ++k) {
      const tag t{proto::barrier_tag(c.of().number(), first + k, c.number())};
      const std::int64_t distance = std::int64_t{1} << k;
      const send_request tell{c.peer(c.at(distance)), t, const_buffer{}, detail::send_mode::signal};
      const recv_request hear{nullptr, c.peer(c.at(-distance)), t, mutable_buffer{}};
      if (2 * distance >= c.size()) c.leave_background(0);
      co_await together(c, tell, hear);
    }
  } catch (...) {
    failure = std::current_exception();
  }
  if (!part)
    co_await c.end(std::move(failure));
  else if (failure)
    std::rethrow_exception(failure);
}
task<void> disseminate_in_part(collective c, const arguments&) {
  co_await disseminate({}, {}, 0, &c);
}

/// In each host; then in each slice, whose members speak for their hosts.
task<void> barrier_levels(collective c, const arguments& with) {
  part_of_collective first(c.in_host(collective::turn::before_others), kind::barrier, 0, with);
  part_of_collective last(c.in_slice(collective::turn::last), kind::barrier, 0, with);
  co_await first.perform();
  co_await last.perform();
}

constexpr algorithm barrier_algorithms[] = {
    {"dissemination", [](const terms& t) { return t.tree(0); }, serves_always,
     [](detail::communicator_ptr&& of, const collective_call& made, arguments&& with) {
       return disseminate(std::move(of), made, with.number);
     },
     disseminate_in_part},
    {"flags", [](const terms& t) { return t.flags(); }, unfit_for_flags, by_flags<barrier_by_flags>,
     nullptr, &barrier_by_flags},
    {"levels",
     [](const terms& t) {
       const cost_of_levels of(t);
       return of.in_host(kind::barrier, 0) + of.in_slice(kind::barrier, 0);
     },
     unfit_for_levels, in_frame<barrier_levels>}};

}  // namespace

constinit const collective_table barrier_table{"barrier", {}, barrier_algorithms};

}  // namespace collectives

task<void> detail::barrier(communicator_ptr of) {
  return collectives::perform(collectives::barrier_algorithms, std::move(of),
                              {collectives::kind::barrier, 0}, {});
}

peer_id detail::rank_in(const collectives::communicator& of) noexcept { return of.rank(); }
peer_id detail::size_of(const collectives::communicator& of) noexcept { return of.size(); }

}  // namespace weft
