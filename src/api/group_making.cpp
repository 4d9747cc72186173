// SPDX-License-Identifier: Apache-2.0
// Groups that are made of others. Their numbers are computed, equally at all members, from what the
// members have in common: no message is needed to agree on one.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include <weft/coro/when.hpp>
#include <weft/group.hpp>

#include "api/core.hpp"
#include "collectives/communicator.hpp"
#include "proto/frames.hpp"
#include "proto/group_table.hpp"
#include "proto/peer_number.hpp"

namespace weft {

using collectives::communicator;
using collectives::group_shape;

namespace {

// Where a number comes from, so that two ways never give one number by the same words.
enum class origin : std::uint64_t { split = 1, shrink, view, name };

/// Mixes words into a number (the finalizer of SplitMix64, Steele, Lea, Flood 2014). Two groups of
/// one process get the same one of 2^45 by chance of 2^-45, and the second one then is an error.
class number_of_group {
 public:
  explicit number_of_group(origin of) noexcept { add(static_cast<std::uint64_t>(of)); }
  number_of_group& add(std::uint64_t word) noexcept {
    std::uint64_t h = state_ + word + 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    state_ = h ^ h >> 31;
    return *this;
  }
  /// 0 is the world's.
  std::uint64_t value() const noexcept {
    return std::max<std::uint64_t>(1, state_ & proto::group_mask);
  }

 private:
  std::uint64_t state_ = 0;
};

bool all_on_one_host(detail::core& c) noexcept {
  const wireup::job& j = c.plane().job();
  return j.local_size() == j.size();
}

/// \param members peer numbers, with this process at place `rank`
group make_group(context& owner, std::uint64_t number, std::size_t rank, bool one_host,
                 std::vector<peer_id> members) {
  const group_shape shape{static_cast<peer_id>(members.size()), one_host};
  return group(
      owner, std::make_shared<communicator>(owner.core().messenger(), number,
                                            static_cast<peer_id>(rank), shape, std::move(members)));
}

std::size_t place_in(const std::vector<peer_id>& members, peer_id self) noexcept {
  return static_cast<std::size_t>(std::find(members.begin(), members.end(), self) -
                                  members.begin());
}

struct choice {
  int colour, key;
};

/// Ends when the members of the job are others than those of the view.
task<void> await_change(membership job, std::uint64_t epoch, detail::communicator_ptr next) {
  static_cast<void>(co_await job.changed(epoch));
  static_cast<void>(next->fail(error(errc::refused, "the job has changed meanwhile")));
}

}  // namespace

task<group> group::split(int colour, int key) const {
  const group whole = *this;
  const std::uint64_t sequence = whole.state_->next_sequence();
  const std::vector<choice> mine{{colour, key}};
  std::vector<choice> all(whole.size());
  co_await whole.all_gather(mine, all);
  std::vector<peer_id> ranks;
  for (peer_id r = 0; r != whole.size(); ++r)
    if (all[r].colour == colour) ranks.push_back(r);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](peer_id a, peer_id b) { return all[a].key < all[b].key; });
  const std::size_t place = place_in(ranks, whole.rank());
  for (peer_id& r : ranks) r = whole.state_->member(r);
  number_of_group number(origin::split);
  number.add(whole.state_->number()).add(sequence).add(static_cast<std::uint32_t>(colour));
  co_return make_group(*whole.owner_, number.value(), place, whole.state_->shape().one_host,
                       std::move(ranks));
}

group group::of(context& owner, const membership_view& view) {
  detail::core& c = owner.core();
  const std::size_t place = place_in(view.ranks, c.rank());
  if (place == view.ranks.size())
    throw error(errc::invalid_argument,
                fmt::format("rank {} is not in the view of epoch {}", c.rank(), view.epoch));
  // Where those that joined later run is not known everywhere.
  const bool one_host = all_on_one_host(c) && view.ranks.back() < c.size();
  return make_group(owner, number_of_group(origin::view).add(view.epoch).value(), place, one_host,
                    view.ranks);
}

group group::of(context& owner, const std::vector<endpoint>& members, peer_id rank,
                std::string_view name) {
  if (rank >= members.size())
    throw error(errc::invalid_argument,
                fmt::format("there is no place {} among {} members", rank, members.size()));
  number_of_group number(origin::name);
  for (const char c : name) number.add(static_cast<unsigned char>(c));
  std::vector<peer_id> ids;
  for (std::size_t r = 0; r != members.size(); ++r) {
    if (r != rank && members[r].id() == no_peer)
      throw error(errc::invalid_argument, fmt::format("the endpoint at place {} is empty", r));
    ids.push_back(members[r].id());
  }
  return make_group(owner, number.add(members.size()).value(), rank, false, std::move(ids));
}

/// Every member that is left tries a group of those that its view of the job has, and crosses a
/// barrier of it. Members with different views try different groups; each of these fails when its
/// member sees the next view, and all end with the last one.
task<group> group::shrink() const {
  const group whole = *this;
  const communicator& old = *whole.state_;
  membership job(*whole.owner_);
  const std::uint64_t attempt = whole.state_->next_shrink();
  for (membership_view view = job.now();;) {
    if (whole.state_->has_lost_one_of(view.ranks)) {
      view = co_await job.changed(view.epoch);
      continue;
    }
    std::vector<peer_id> left;
    for (peer_id r = 0; r != whole.size(); ++r) {
      if (!proto::names_rank(old.member(r)))
        throw error(errc::unsupported,
                    fmt::format("member {} of the group was met by address: only the members of a "
                                "job are known to live; make a new group of endpoints",
                                r));
      if (view.contains(old.member(r))) left.push_back(old.member(r));
    }
    const std::size_t place = place_in(left, whole.owner_->core().rank());
    if (place == left.size()) throw error(errc::closed, "this process has left the job");
    number_of_group number(origin::shrink);
    number.add(old.number()).add(attempt).add(view.epoch);
    group next =
        make_group(*whole.owner_, number.value(), place, old.shape().one_host, std::move(left));
    std::optional<error> failure;
    try {
      const auto ended =
          co_await when_any(next.barrier(), await_change(job, view.epoch, next.state_));
      if (ended.index() == 0) co_return next;
    } catch (const error& e) {
      if (e.kind() == errc::stopped) throw;
      failure = e;
    }
    if (failure)
      view = co_await job.changed(view.epoch);
    else
      view = job.now();
  }
}

}  // namespace weft
