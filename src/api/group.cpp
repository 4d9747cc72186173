// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <weft/coro/as_result.hpp>
#include <weft/group.hpp>

#include "api/core.hpp"
#include "proto/frames.hpp"

namespace weft {

peer_id group::rank() const noexcept { return owner_->core().rank(); }
peer_id group::size() const noexcept { return owner_->core().size(); }

endpoint group::operator[](peer_id rank) const {
  if (rank >= size())
    throw error(errc::invalid_argument,
                fmt::format("there is no rank {} in a job of {}", rank, size()));
  return owner_->peer(rank);
}

/// Dissemination barrier (Hensgen, Finkel, Manber 1988): in step k each rank signals the rank 2^k
/// further on, so that after log2(n) steps each rank has heard from all, directly or not.
std::optional<group::barrier_step> group::step_of_barrier(unsigned k, errc failed) const {
  const peer_id me = rank();
  const peer_id all = size();
  if (me >= all)
    throw error(errc::unsupported,
                fmt::format("rank {} joined later: a barrier is for the {} that started together",
                            me, all));
  const std::uint64_t distance = std::uint64_t{1} << k;
  if (distance >= all) return {};
  const auto ahead = peer_id((me + distance) % all), behind = peer_id((me + all - distance) % all);
  const auto [next, last] = owner_->core().messenger().peers().at(ahead, behind);
  const tag t{proto::first_signal_tag | k};
  return barrier_step{{{next, ahead},
                       t,
                       const_buffer{},
                       detail::send_mode::signal,
                       static_cast<std::uint64_t>(failed)},
                      {nullptr, {last, behind}, t, mutable_buffer{}}};
}

void group::check_heard(const received& what) {
  if (what.immediate == 0) return;
  const bool closed = what.immediate == static_cast<std::uint64_t>(errc::closed);
  throw error(closed ? errc::closed : errc::peer_lost,
              fmt::format("rank {} says that the barrier has failed: a member {}", what.source,
                          closed ? "has closed" : "is lost"));
}

/// A rank that fails signals the ranks that would wait for it, so that all fail in as many steps.
task<void> group::barrier() const {
  unsigned k = 0;
  std::optional<error> failure;
  try {
    for (; const auto step = step_of_barrier(k); ++k) {
      co_await step->tell;
      check_heard(co_await step->hear);
    }
    co_return;
  } catch (const error& e) {
    failure = e;
  }
  while (const auto step = step_of_barrier(++k, failure->kind()))
    static_cast<void>(co_await as_result(step->tell));
  throw *failure;
}

}  // namespace weft
