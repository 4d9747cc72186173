// SPDX-License-Identifier: Apache-2.0
#include <weft/group.hpp>

#include <fmt/format.h>

#include "api/core.hpp"

namespace weft {

namespace {
constexpr std::uint64_t barrier_tags = std::uint64_t{0xff} << 56;
}

peer_id group::rank() const noexcept { return owner_->core().rank(); }
peer_id group::size() const noexcept { return owner_->core().size(); }

endpoint group::operator[](peer_id rank) const {
  if (rank >= size())
    throw error(errc::invalid_argument,
                fmt::format("there is no rank {} in a job of {}", rank, size()));
  return owner_->peer(rank);
}

/// Dissemination: in round k everybody tells the one 2^k further on, so that after log2(n) rounds
/// each has heard, directly or not, from all.
task<void> group::barrier() const {
  const peer_id me = rank();
  const peer_id all = size();
  if (me >= all)
    throw error(errc::invalid_argument,
                fmt::format("rank {} joined later: a barrier is for the {} that started together",
                            me, all));
  for (peer_id step = 1, round = 0; step < all; step *= 2, ++round) {
    const tag t{barrier_tags | round};
    co_await (*this)[(me + step) % all].send(const_buffer{}, t);
    co_await (*this)[(me + all - step) % all].recv(mutable_buffer{}, t);
  }
}

}  // namespace weft
