// SPDX-License-Identifier: Apache-2.0
// Groups that are made of others.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <weft/group.hpp>

#include "api/core/core.hpp"
#include "collectives/communicator.hpp"
#include "collectives/group_number.hpp"
#include "collectives/regroup.hpp"
#include "wireup/job/even_hosts.hpp"

namespace weft {

using collectives::communicator;
using collectives::group_shape;
using collectives::number_of_group;
using collectives::origin;

namespace {

/// How many members each host has, as collectives::group_shape has it: every member comes to the
/// same answer. Where processes run that are no ranks, or that joined later, is not known
/// everywhere.
peer_id per_host(detail::core& c, const std::vector<peer_id>& members) {
  const wireup::job& j = c.plane().job();
  std::vector<std::uint32_t> hosts;
  for (const peer_id m : members) {
    if (j.per_host() == 0 || m >= j.size()) return 0;
    hosts.push_back(m / j.per_host());
  }
  return wireup::ranks_of_each_host(hosts);
}

/// \param members peer numbers, with this process at place `rank`
/// \param per_host of them; 0: not known
group make_group(context& owner, std::uint64_t number, std::size_t rank, peer_id per_host,
                 std::vector<peer_id> members) {
  const auto size = static_cast<peer_id>(members.size());
  const auto shape =
      group_shape::on_hosts(size, per_host, detail::core_of(owner).world()->shape().forced);
  return group(
      owner, std::make_shared<communicator>(detail::core_of(owner).messenger(), number,
                                            static_cast<peer_id>(rank), shape, std::move(members)));
}

std::size_t place_in(const std::vector<peer_id>& members, peer_id self) noexcept {
  return static_cast<std::size_t>(std::find(members.begin(), members.end(), self) -
                                  members.begin());
}

struct choice {
  int colour, key;
};

/// The views of a context's job.
class views_of final : public collectives::member_views {
 public:
  explicit views_of(context& of) noexcept : core_(detail::core_of(of)), job_(of) {}
  collectives::job_view now() override { return view_of(job_.now()); }
  task<collectives::job_view> changed(std::uint64_t since) override {
    membership_view next = co_await job_.changed(since);
    co_return view_of(std::move(next));
  }
  collectives::job_attempts& attempts_of_job() override { return core_.regroupings(); }

 private:
  static collectives::job_view view_of(membership_view v) {
    return {v.epoch, std::move(v.ranks), std::move(v.places)};
  }

  detail::core& core_;
  membership job_;
};

task<group> regroup(collectives::regrouping how, context& owner, detail::communicator_ptr whole) {
  if (how != collectives::regrouping::shrink && !whole->is_of_world())
    throw error(errc::unsupported,
                "a lost rank's process comes back to the world, and a process that joins does so, "
                "too: call this for the world, or what was made of it by shrink, replace and grow, "
                "and divide the new group again");
  views_of job(owner);
  detail::communicator_ptr next =
      co_await collectives::regroup(how, std::move(whole), job, detail::core_of(owner).rank());
  co_return group(owner, std::move(next));
}

}  // namespace

task<group> group::split(int colour, int key) const {
  const group whole = *this;
  const std::uint64_t sequence = whole.state_->begun();  // of the all_gather
  const std::vector<choice> mine{{colour, key}};
  std::vector<choice> all(whole.size());
  co_await detail::all_gather(whole.state_, detail::bytes_of(mine), detail::writable_bytes_of(all),
                              detail::name_of_split);
  std::vector<peer_id> ranks;
  for (peer_id r = 0; r != whole.size(); ++r)
    if (all[r].colour == colour) ranks.push_back(r);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](peer_id a, peer_id b) { return all[a].key < all[b].key; });
  const std::size_t place = place_in(ranks, whole.rank());
  for (peer_id& r : ranks) r = whole.state_->member(r);
  number_of_group number(origin::split);
  number.add(whole.state_->number()).add(sequence).add(static_cast<std::uint32_t>(colour));
  // What is not known of the whole group is not known of a part at all members.
  const bool known = whole.state_->shape().per_host != 0;
  const peer_id of_host = known ? per_host(detail::core_of(*whole.owner_), ranks) : 0;
  co_return make_group(*whole.owner_, number.value(), place, of_host, std::move(ranks));
}

group group::of(context& owner, const membership_view& view) {
  detail::core& c = detail::core_of(owner);
  const std::size_t place = place_in(view.ranks, c.rank());
  if (place == view.ranks.size())
    throw error(errc::invalid_argument,
                fmt::format("rank {} is not in the view of epoch {}", c.rank(), view.epoch));
  return make_group(owner, number_of_group(origin::view).add(view.epoch).value(), place,
                    per_host(c, view.ranks), view.ranks);
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
  return make_group(owner, number.add(members.size()).value(), rank, 0, std::move(ids));
}

task<group> group::shrink() const {
  return regroup(collectives::regrouping::shrink, *owner_, state_);
}

task<group> group::replace() const {
  return regroup(collectives::regrouping::replace, *owner_, state_);
}

task<group> group::grow() const { return regroup(collectives::regrouping::grow, *owner_, state_); }

}  // namespace weft
