// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <iterator>

#include "collectives/algorithms/data.hpp"

namespace weft {

namespace collectives {
namespace {

/// Dissemination barrier (Hensgen, Finkel, Manber 1988): in step k each rank signals the rank 2^k
/// further on, so that after log2(n) steps each rank has heard from all, directly or not. By
/// signals, which pass messages that no receive has taken. In one coroutine, as
/// all_reduce_doubling.
task<void> disseminate(detail::communicator_ptr group) {
  const collective c = co_await begin(group, collective_call{});  // its words are constants
  communicator& of = c.of();
  std::exception_ptr failure;
  try {
    for (unsigned k = 0; (std::uint64_t{1} << k) < c.size(); ++k) {
      const tag t{proto::barrier_tag(of.number(), k, c.sequence())};
      const std::int64_t distance = std::int64_t{1} << k;
      const send_request tell{of.peer(c.at(distance)), t, const_buffer{},
                              detail::send_mode::signal};
      const recv_request hear{nullptr, of.peer(c.at(-distance)), t, mutable_buffer{}};
      if (2 * distance >= c.size()) c.leave_background(0);
      co_await together(c, tell, hear);
    }
  } catch (...) {
    failure = std::current_exception();
  }
  co_await c.end(std::move(failure));
}

constexpr algorithm barrier_algorithms[] = {
    {"dissemination", [](const terms& t) { return t.log_n * t.a; }, serves_always,
     [](detail::communicator_ptr&& of, const collective_call&, arguments&&) {
       return disseminate(std::move(of));
     }}};

}  // namespace

constinit const collective_table barrier_table{"barrier", {}, barrier_algorithms};

}  // namespace collectives

/// The only entry, without arguments: the shortest call.
task<void> detail::barrier(communicator_ptr of) {
  static_assert(std::size(collectives::barrier_algorithms) == 1, "then perform has to choose");
  return collectives::disseminate(std::move(of));
}

peer_id detail::rank_in(const collectives::communicator& of) noexcept { return of.rank(); }
peer_id detail::size_of(const collectives::communicator& of) noexcept { return of.size(); }

}  // namespace weft
