// SPDX-License-Identifier: Apache-2.0
#include "collectives/shrink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <weft/coro/when.hpp>

#include "collectives/communicator.hpp"
#include "collectives/group_number.hpp"
#include "proto/peer_number.hpp"

namespace weft::collectives {

namespace {

/// Ends when the members of the job are others than those of the view.
task<void> await_change(member_views& job, std::uint64_t epoch, detail::communicator_ptr next) {
  static_cast<void>(co_await job.changed(epoch));
  static_cast<void>(next->fail(error(errc::refused, "the job has changed meanwhile")));
}

/// The members of a group that are in a view, by their peer numbers.
std::vector<peer_id> members_left(const communicator& old, const job_view& view) {
  std::vector<peer_id> left;
  for (peer_id r = 0; r != old.size(); ++r) {
    if (!proto::names_rank(old.member(r)))
      throw error(errc::unsupported,
                  fmt::format("member {} of the group was met by address: only the members of a "
                              "job are known to live; make a new group of endpoints",
                              r));
    if (std::find(view.ranks.begin(), view.ranks.end(), old.member(r)) != view.ranks.end())
      left.push_back(old.member(r));
  }
  return left;
}

}  // namespace

/// Every member that is left tries a group of those that its view of the job has, and crosses a
/// barrier of it. Members with different views try different groups; each of these fails when its
/// member sees the next view, and all end with the last one.
task<detail::communicator_ptr> shrink(detail::communicator_ptr whole, member_views& job,
                                      peer_id self) {
  communicator& old = *whole;
  for (job_view view = job.now();;) {
    if (old.has_lost_one_of(view.ranks)) {
      view = co_await job.changed(view.epoch);
      continue;
    }
    std::vector<peer_id> left = members_left(old, view);
    const auto place = std::find(left.begin(), left.end(), self) - left.begin();
    if (place == static_cast<std::ptrdiff_t>(left.size()))
      throw error(errc::closed, "this process has left the job");
    const group_shape shape{static_cast<peer_id>(left.size()), old.shape().one_host};
    const std::uint64_t attempt = old.next_shrink(view.epoch);
    auto next =
        std::make_shared<communicator>(old.messenger(), old.number_of_shrink(view.epoch, attempt),
                                       static_cast<peer_id>(place), shape, std::move(left));
    std::optional<error> failure;
    try {
      const auto ended =
          co_await when_any(detail::barrier(next), await_change(job, view.epoch, next));
      if (ended.index() == 0) {
        next->descends_from(old, view.epoch, attempt);
        co_return next;
      }
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

}  // namespace weft::collectives
