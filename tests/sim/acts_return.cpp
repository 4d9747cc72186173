// SPDX-License-Identifier: Apache-2.0
// A computation of all ranks that is whole again after each loss, as samples/survive.cpp is.
#include <algorithm>
#include <limits>
#include <map>

#include "collectives/communicator.hpp"
#include "collectives/regroup.hpp"
#include "sim/acts.hpp"
#include "sim/meeting.hpp"
#include "sim/pace.hpp"

namespace sim {

namespace {

using namespace std::chrono_literals;
using weft::collectives::kind;
using weft::detail::communicator_ptr;

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

struct least {
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return std::min(a, b); }
};

/// What the oracle knows of the computation.
struct restoring {
  explicit restoring(job& of) : all(of) {}

  /// A call fails only for a loss, or because the job has changed meanwhile.
  bool excuses(errc status) const {
    const bool stops = all.everybody_stops();
    return losses != 0 &&
           (weft::is_loss(status) || status == errc::refused || (stops && status == errc::stopped));
  }
  /// Members that have done all steps may leave others in the last barrier, and one that comes back
  /// then without anything to do. Messages of other acts may use up all credit.
  bool may_wait(node n) const {
    const bool over = reached.at(n) == steps.size() || reached.at(n) == none;
    return (!finished.empty() && over) || starved();
  }
  bool starved() const {
    for (const auto& [a, at_a] : reached)
      for (const auto& [b, at_b] : reached)
        if (a != b && all.lives(a) && all.lives(b) && all.book().starved(a, b)) return true;
    return false;
  }
  bool has_coordinator() const { return all.lives(0); }

  std::string judge() const {
    if (!has_coordinator()) return {};  // no process comes back
    for (const auto& [n, step] : reached) {
      if (!all.lives(n) || finished.contains(n) || may_wait(n)) continue;
      return fmt::format("rank {} has got to step {} of {} only", n, step, steps.size());
    }
    return {};
  }

  job& all;
  std::vector<step> steps;
  unsigned losses = 0;
  std::map<node, std::uint64_t> reached;  // the step that a rank is at
  std::set<node> finished;
};
using restoring_ptr = std::shared_ptr<restoring>;

/// A call of one member, watched. \return false: it has failed
task<bool> watched(rank& r, const restoring_ptr& m, std::string_view what, task<void> call) {
  record& page = r.book().new_collective(what, r.number());
  page.hides = 2 * static_cast<unsigned>(m->all.plan().ranks.size()) + 4;
  page.may_end = [m](errc status) { return m->excuses(status); };
  page.may_wait = [m, n = r.number()] { return !m->has_coordinator() || m->may_wait(n); };
  r.book().begun(page);
  r.history().note("rank {}: operation {} is the {} at step {}", r.number(), page.number, what,
                   m->reached.at(r.number()));
  const auto end = co_await as_result(std::move(call));
  weft::task_environment& here = co_await weft::current_environment();
  if (here.stop.stop_requested()) r.book().asked_to_stop(page);
  r.book().ended(page, end.code());
  co_return static_cast<bool>(end);
}

task<void> make_whole(job& j, rank& r, communicator_ptr& group) {
  group = co_await weft::collectives::regroup(weft::collectives::regrouping::replace, group,
                                              j.views(r.number()), r.number());
}

/// The step that all members can go on with.
task<void> agree(communicator_ptr group, std::uint64_t& step) {
  const weft::mutable_buffer word = std::as_writable_bytes(std::span(&step, 1));
  return weft::detail::all_reduce(group, word,
                                  weft::detail::make_reduction<std::uint64_t>(least{}));
}

/// The data of each group differ: what a lost rank has sent would be noticed in a later one.
task<bool> take_step(rank& r, restoring_ptr m, communicator_ptr group, std::uint64_t number) {
  step s = m->steps[number];
  s.salt ^= group->number();
  part_of_step data(s, group->rank(), group->size());
  const bool well = co_await watched(r, m, "step", data.perform(group));
  if (!well) co_return false;
  if (const std::string wrong = data.judge(); !wrong.empty()) r.accuse(wrong);
  co_return true;
}

/// \param group the world \param step 0, or `none` of a process that has come back
task<void> compute(job& j, rank& r, restoring_ptr m, communicator_ptr group, std::uint64_t step,
                   dice d) {
  std::uint64_t& reached = m->reached[r.number()];
  for (bool broken = step == none;;) {
    if (broken) {
      const bool whole = co_await watched(r, m, "replace", make_whole(j, r, group));
      if (!whole) co_return;  // the oracle knows when that may be
      std::uint64_t common = step;
      const bool agreed = co_await watched(r, m, "agreement", agree(group, common));
      broken = !agreed;
      if (broken) continue;
      reached = step = common;
    }
    if (d.percent(20)) static_cast<void>(co_await as_result(weft::sleep_for(d.up_to(30us))));
    if (step == m->steps.size()) {
      const bool over = co_await watched(r, m, "last barrier", weft::detail::barrier(group));
      broken = !over;
      if (broken) continue;
      m->finished.insert(r.number());
      co_return;
    }
    const bool done = co_await take_step(r, m, group, step);
    broken = !done;
    if (done) reached = ++step;
  }
}

communicator_ptr world_of(job& j, rank& r, std::uint64_t number, node place) {
  std::vector<weft::peer_id> members;
  for (node n = 0; n != j.plan().at_start(); ++n) members.push_back(n);
  auto world = std::make_shared<weft::collectives::communicator>(
      r.messages(), number, place,
      weft::collectives::group_shape{static_cast<weft::peer_id>(members.size()), false}, members);
  if (r.number() != place) world->disown();
  return world;
}

}  // namespace

void stage_restoration(job& j, const act& a) {
  dice d = a.chance;
  const auto m = std::make_shared<restoring>(j);
  constexpr std::array<std::size_t, 5> word_counts{0, 1, 5, 100, 600};
  for (std::uint64_t n = d.between(1, 12); n != 0; --n)
    m->steps.push_back({static_cast<kind>(d.below(weft::collectives::kinds)), d.one_of(word_counts),
                        d.throw_one(), d.percent(40), d.throw_one()});
  const std::uint64_t number = group_of(a);
  // Revocations, and what others say of a group before this side has made it.
  for (node n = 0; n != j.plan().ranks.size(); ++n) j.book().hides(n, 64);
  for (node n = 0; n != j.plan().at_start(); ++n)
    j.when_there(n, d.part(n).up_to(30us), [&j, m, number, d](rank& r) {
      const node self = r.number();
      m->reached[self] = 0;
      r.play(compute(j, r, m, world_of(j, r, number, self), 0, d.part(100 + self)));
    });
  const nanoseconds span = d.percent(50) ? 2ms : 300us;
  for (unsigned i = 0; i != j.plan().spares; ++i) {
    const bool of_any = d.percent(5);
    const auto place = static_cast<node>(of_any ? d.below(j.plan().at_start())
                                                : d.between(1, j.plan().at_start() - 1));
    const nanoseconds rest = d.up_to(d.percent(50) ? 5us : 300us);
    j.world().at(d.up_to(span), [&j, m, number, place, rest, d] {
      const weft::peer_id victim = j.holder(place);
      if (!m->finished.empty() || victim == weft::no_peer || !j.lives(static_cast<node>(victim)))
        return;
      ++m->losses;
      j.kill(static_cast<node>(victim));
      if (place == 0) return;
      j.world().at(j.world().elapsed() + rest, [&j, m, number, place, d] {
        rank* const back = j.bring_back(place);
        if (!back) return;
        const node self = back->number();
        m->reached[self] = none;
        back->play(
            compute(j, *back, m, world_of(j, *back, number, place), none, d.part(100 + self)));
      });
    });
  }
  j.judge_by([m] { return m->judge(); });
}

}  // namespace sim
