// SPDX-License-Identifier: Apache-2.0
#include "collectives/regroup.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <weft/coro/event.hpp>
#include <weft/coro/when.hpp>

#include "collectives/communicator.hpp"

namespace weft::collectives {

using detail::communicator_ptr;

namespace {

std::vector<peer_id> peers_of(const communicator& group) {
  std::vector<peer_id> all;
  for (peer_id r = 0; r != group.size(); ++r) all.push_back(group.member(r));
  return all;
}

/// Members of the group that are not in the view.
std::vector<peer_id> members_gone(const std::vector<peer_id>& old, const job_view& view) {
  std::vector<peer_id> gone;
  for (const peer_id member : old)
    if (!has(view.ranks, member)) gone.push_back(member);
  return gone;
}

/// What a member knows of the job while it makes a group.
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
  std::erase_if(left, [&](peer_id m) { return has(lost, m); });
}

/// Other members may have crossed the barrier already: they get the reason from their first
/// collective, which is a loss if it is one.
void give_up(communicator& tried, const regroup_plan& aim, const job_view& view) {
  for (peer_id r = 0; r != aim.members.size(); ++r)
    if (!has(view.ranks, aim.members[r])) return tried.lose_rank(r);
  static_cast<void>(tried.fail(error(errc::refused, "the job has changed meanwhile")));
}

/// Ends when the new group has other members than those that are tried. The end of the coordinator
/// alone is no reason to give that group up: it may come about. It fails by itself when a member
/// tells of a loss later.
task<void> await_change(regrouping how, communicator& old, knowledge& known,
                        const regroup_plan& aim, communicator& tried) {
  std::optional<regroup_plan> now = aim;
  while (known.has_coordinator && now == aim) {
    co_await known.next();
    now = plan_group(how, peers_of(old), known.view);
  }
  if (!known.has_coordinator && how == regrouping::shrink)
    leave_out(now->members, old.agree_on_lost(members_gone(peers_of(old), known.view)));
  event never;
  if (now == aim) co_await never.wait();
  give_up(tried, aim, known.view);
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

/// The numbers of the groups that are tried, and which of them are used up. Progress lock held.
struct numbering {
  number_sequence sequence;
  attempts& used;
};

numbering numbers_of(regrouping how, communicator& old, member_views& job,
                     const regroup_plan& aim) {
  if (how == regrouping::shrink) return {old.shrinks_to(aim.members), old.shrinks()};
  job_attempts& all = job.attempts_of_job();
  if (how == regrouping::grow) return {{origin::grow, aim.epoch, aim.members}, all.growing};
  return {{origin::replace, aim.epoch, aim.members}, all.replacing};
}

/// The first attempt that can be tried.
std::uint64_t next_attempt(communicator& old, const numbering& n) {
  std::uint64_t attempt = n.used.used(n.sequence);
  while (old.messenger().groups().find_revoked(n.sequence.number(attempt))) ++attempt;
  return attempt;
}

group_shape shape_of(regrouping how, const group_shape& old, std::size_t members) {
  const auto size = static_cast<peer_id>(members);
  // On which hosts the others are is not known everywhere.
  if (how != regrouping::shrink) return group_shape::on_hosts(size, 0, old.forced);
  group_shape shape = old;
  shape.ranks = size;
  shape.per_host = shape.one_host ? size : 0;
  shape.flags = shape.one_host && shape.flags;
  return shape;
}

/// A group that is tried.
struct tried_group {
  communicator_ptr group;
  numbering numbers;
  std::uint64_t attempt;
};

tried_group make_group_to_try(regrouping how, const communicator_ptr& whole, member_views& job,
                              const regroup_plan& aim, peer_id self) {
  communicator& old = *whole;
  const std::vector<peer_id>& members = aim.members;
  const auto place = std::find(members.begin(), members.end(), self) - members.begin();
  if (place == static_cast<std::ptrdiff_t>(members.size()))
    throw error(errc::closed,
                "this process has left the job, has no place in it, or others have lost it");
  std::uint64_t attempt = 0;
  const numbering numbers = numbers_of(how, old, job, aim);
  {
    const runtime::engine::holder hold(old.engine());
    attempt = next_attempt(old, numbers);
  }
  auto next = std::make_shared<communicator>(old.messenger(), numbers.sequence.number(attempt),
                                             static_cast<peer_id>(place),
                                             shape_of(how, old.shape(), members.size()), members);
  if (how == regrouping::shrink)
    next->descends_from(whole);
  else
    next->follows(old);
  return {std::move(next), numbers, attempt};
}

}  // namespace

/// Every member tries a group of those that it should have as far as it knows, and crosses a
/// barrier of it. Members that know different things try different groups; each of these fails when
/// its member learns more, and all end with the last one. What they know are the views of the
/// coordinator (rank 0 of the job), and when that has gone, what each has lost and tells the
/// others.
task<communicator_ptr> regroup(regrouping how, communicator_ptr whole, member_views& job,
                               peer_id self) {
  communicator& old = *whole;
  knowledge known{job, job.now()};
  for (std::vector<peer_id> lost;;) {
    if (known.has_coordinator && old.has_lost_one_of(known.view.ranks)) {
      co_await known.next();
      continue;
    }
    if (!known.has_coordinator && how != regrouping::shrink)
      throw error(errc::peer_lost,
                  "rank 0, which lets processes into the job, has gone: group::shrink makes a "
                  "group of those that are left");
    std::optional<regroup_plan> aim = plan_group(how, peers_of(old), known.view);
    if (!aim) {
      co_await known.next();
      continue;
    }
    if (!known.has_coordinator) {
      // The last view may have reached this member only.
      lost = old.agree_on_lost(members_gone(peers_of(old), known.view));
      leave_out(aim->members, lost);
    }
    const tried_group tried = make_group_to_try(how, whole, job, *aim, self);
    communicator& next = *tried.group;
    std::optional<error> failure;
    try {
      const trial now(old, next);
      const auto ended = co_await when_any(detail::barrier(tried.group),
                                           await_change(how, old, known, *aim, next));
      // This member may have crossed the barrier, and have learned more and given the group up.
      if (ended.index() == 0 && (!next.has_failed() || next.was_revoked())) {
        const runtime::engine::holder hold(old.engine());
        tried.numbers.used.use(tried.numbers.sequence, tried.attempt);
        co_return tried.group;
      }
    } catch (const error& e) {
      if (e.kind() == errc::stopped) throw;
      failure = e;
    }
    // Others may have crossed the barrier, and used and revoked the group: they make it again.
    if (!failure || next.was_revoked()) continue;
    if (known.has_coordinator && plan_group(how, peers_of(old), known.view) != aim) continue;
    if (known.has_coordinator) {
      co_await known.next();
      continue;
    }
    if (how != regrouping::shrink) continue;
    const std::size_t before = lost.size();
    lost = old.agree_on_lost(next.lost_peers());
    if (lost.size() == before) throw *failure;
  }
}

}  // namespace weft::collectives
