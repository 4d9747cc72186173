// SPDX-License-Identifier: Apache-2.0
// Groups that are made of others.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <weft/group.hpp>

#include "api/core/core.hpp"
#include "collectives/communicator.hpp"
#include "collectives/group_number.hpp"
#include "collectives/shrink.hpp"

namespace weft {

using collectives::communicator;
using collectives::group_shape;
using collectives::number_of_group;
using collectives::origin;

namespace {

bool all_on_one_host(detail::core& c) noexcept {
  const wireup::job& j = c.plane().job();
  return j.local_size() == j.size();
}

/// \param members peer numbers, with this process at place `rank`
group make_group(context& owner, std::uint64_t number, std::size_t rank, bool one_host,
                 std::vector<peer_id> members) {
  const group_shape shape{static_cast<peer_id>(members.size()), one_host,
                          detail::core_of(owner).world()->shape().forced};
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
  explicit views_of(context& of) noexcept : job_(of) {}
  collectives::job_view now() override { return view_of(job_.now()); }
  task<collectives::job_view> changed(std::uint64_t since) override {
    membership_view next = co_await job_.changed(since);
    co_return view_of(std::move(next));
  }

 private:
  static collectives::job_view view_of(membership_view v) { return {v.epoch, std::move(v.ranks)}; }

  membership job_;
};

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
  co_return make_group(*whole.owner_, number.value(), place, whole.state_->shape().one_host,
                       std::move(ranks));
}

group group::of(context& owner, const membership_view& view) {
  detail::core& c = detail::core_of(owner);
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

task<group> group::shrink() const {
  context& owner = *owner_;
  detail::communicator_ptr whole = state_;
  views_of job(owner);
  detail::communicator_ptr next =
      co_await collectives::shrink(std::move(whole), job, detail::core_of(owner).rank());
  co_return group(owner, std::move(next));
}

}  // namespace weft
