// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "collectives/algorithms/data.hpp"
#include "collectives/flags/steps.hpp"

namespace weft {

namespace collectives {
namespace {

/// Dissemination barrier (Hensgen, Finkel, Manber 1988): in step k each rank signals the rank 2^k
/// further on, so that after log2(n) steps each rank has heard from all, directly or not. By
/// signals, which pass messages that no receive has taken. In one coroutine, as
/// all_reduce_doubling.
task<void> disseminate(detail::communicator_ptr group, collective_call made, std::uint64_t number) {
  const collective c = co_await begin(group, made, number);
  communicator& of = c.of();
  std::exception_ptr failure;
  try {
    for (unsigned k = 0; (std::uint64_t{1} << k) < c.size(); ++k) {
      const tag t{proto::barrier_tag(of.number(), k, c.number())};
      const std::int64_t distance = std::int64_t{1} << k;
      const send_request tell{c.peer(c.at(distance)), t, const_buffer{}, detail::send_mode::signal};
      const recv_request hear{nullptr, c.peer(c.at(-distance)), t, mutable_buffer{}};
      if (2 * distance >= c.size()) c.leave_background(0);
      co_await together(c, tell, hear);
    }
  } catch (...) {
    failure = std::current_exception();
  }
  co_await c.end(std::move(failure));
}

constexpr algorithm barrier_algorithms[] = {
    {"dissemination", [](const terms& t) { return t.tree(0); }, serves_always,
     [](detail::communicator_ptr&& of, const collective_call& made, arguments&& with) {
       return disseminate(std::move(of), made, with.number);
     }},
    {"flags", [](const terms& t) { return t.flags(); }, unfit_for_flags,
     by_flags<barrier_by_flags>}};

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
