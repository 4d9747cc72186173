// SPDX-License-Identifier: Apache-2.0
#include "collectives/shrink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <weft/coro/event.hpp>
#include <weft/coro/when.hpp>

#include "collectives/communicator.hpp"
#include "proto/frames/peer_number.hpp"

namespace weft::collectives {

namespace {

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

/// Members of the group that are not in the view.
std::vector<peer_id> members_gone(const communicator& old, const job_view& view) {
  std::vector<peer_id> gone;
  for (peer_id r = 0; r != old.size(); ++r)
    if (std::find(view.ranks.begin(), view.ranks.end(), old.member(r)) == view.ranks.end())
      gone.push_back(old.member(r));
  return gone;
}

/// What a member knows of the job while it shrinks a group.
struct knowledge {
  member_views& job;
  job_view view;
  bool has_coordinator = true;

  /// Ends when there is another view, or the coordinator has gone.
  task<void> next() {
    try {
      view = co_await job.changed(view.epoch);
    } catch (const error& e) {
      if (!is_loss(e.kind())) throw;
      has_coordinator = false;
    }
  }
};

/// Without a coordinator: what members have sent to each other counts, too.
void leave_out(std::vector<peer_id>& left, const std::vector<peer_id>& lost) {
  std::erase_if(left,
                [&](peer_id m) { return std::find(lost.begin(), lost.end(), m) != lost.end(); });
}

/// Ends when other members are left than those of the group that is tried. The end of the
/// coordinator alone is no reason to give that up: it may come about. It fails by itself when a
/// member tells of a loss later.
task<void> await_change(communicator& old, knowledge& known, const std::vector<peer_id>& left,
                        communicator& tried) {
  std::vector<peer_id> now = left;
  while (known.has_coordinator && now == left) {
    co_await known.next();
    now = members_left(old, known.view);
  }
  if (!known.has_coordinator) leave_out(now, old.agree_on_lost(members_gone(old, known.view)));
  event never;
  if (now == left) co_await never.wait();
  static_cast<void>(tried.fail(error(errc::refused, "the job has changed meanwhile")));
}

/// While the group is tried.
class trial {
 public:
  trial(communicator& old, communicator& next) : old_(old) { old_.tries(&next); }
  trial(const trial&) = delete;
  trial& operator=(const trial&) = delete;
  ~trial() { old_.tries(nullptr); }

 private:
  communicator& old_;
};

}  // namespace

/// Every member that is left tries a group of those that are left as far as it knows, and crosses a
/// barrier of it. Members that know different things try different groups; each of these fails when
/// its member learns more, and all end with the last one. What they know are the views of the
/// coordinator (rank 0 of the job), and when that has gone, what each has lost and tells the
/// others.
task<detail::communicator_ptr> shrink(detail::communicator_ptr whole, member_views& job,
                                      peer_id self) {
  communicator& old = *whole;
  knowledge known{job, job.now()};
  for (std::vector<peer_id> lost;;) {
    std::vector<peer_id> left = members_left(old, known.view);
    if (!known.has_coordinator) {
      // The last view may have reached this member only.
      lost = old.agree_on_lost(members_gone(old, known.view));
      leave_out(left, lost);
    } else if (old.has_lost_one_of(known.view.ranks)) {
      co_await known.next();
      continue;
    }
    const auto place = std::find(left.begin(), left.end(), self) - left.begin();
    if (place == static_cast<std::ptrdiff_t>(left.size()))
      throw error(errc::closed, "this process has left the job, or others have lost it");
    group_shape shape = old.shape();
    shape.ranks = static_cast<peer_id>(left.size());
    shape.per_host = shape.one_host ? shape.ranks : 0;
    shape.flags = shape.one_host && shape.flags;
    const std::uint64_t members = communicator::member_hash(left);
    const std::uint64_t attempt = old.next_shrink(members);
    auto next =
        std::make_shared<communicator>(old.messenger(), old.number_of_shrink(members, attempt),
                                       static_cast<peer_id>(place), shape, left);
    next->descends_from(whole);
    std::optional<error> failure;
    try {
      const trial now(old, *next);
      const auto ended =
          co_await when_any(detail::barrier(next), await_change(old, known, left, *next));
      // This member may have crossed the barrier, and have learned more and given the group up.
      if (ended.index() == 0 && (!next->has_failed() || next->was_revoked())) {
        next->came_about(members, attempt);
        co_return next;
      }
    } catch (const error& e) {
      if (e.kind() == errc::stopped) throw;
      failure = e;
    }
    // Others may have crossed the barrier, and used and revoked the group: they shrink it again.
    if (!failure || next->was_revoked()) continue;
    if (known.has_coordinator && members_left(old, known.view) != left) continue;
    if (known.has_coordinator) {
      co_await known.next();
      continue;
    }
    const std::size_t before = lost.size();
    lost = old.agree_on_lost(next->lost_peers());
    if (lost.size() == before) throw *failure;
  }
}

}  // namespace weft::collectives
