// SPDX-License-Identifier: Apache-2.0
// Collectives of some of the ranks.
#include <algorithm>
#include <array>

#include "collectives/regroup.hpp"
#include "sim/acts.hpp"
#include "sim/meeting.hpp"
#include "sim/pace.hpp"

namespace sim {

namespace {

using meeting_ptr = std::shared_ptr<meeting>;
using weft::collectives::kind;
using weft::detail::communicator_ptr;

/// Begins to watch a collective.
record& watch(rank& r, const meeting_ptr& m, std::string_view what) {
  record& page = r.book().new_collective(what, r.number());
  page.hides = 2 * static_cast<unsigned>(m->members.size()) + 4;
  page.may_end = [m](errc status) { return m->excuses(status); };
  page.may_wait = [m] { return m->may_wait(); };
  r.book().begun(page);
  return page;
}

task<void> take_step(rank& r, meeting_ptr m, communicator_ptr group, std::size_t number) {
  const bool differ = m->mistaken_one && m->mistake == number;
  const bool by_mistake = differ && m->mistaken_one == r.number();
  const step right = m->steps[number];
  const step s = by_mistake ? mistaken(right, dice(right.salt)) : right;
  part_of_step data(s, group->rank(), group->size());
  record& page = watch(r, m, "collective");
  r.history().note("rank {}: operation {} is step {} of group {}, {}", r.number(), page.number,
                   number, group->number(), data.describe());
  weft::task_environment& here = co_await weft::current_environment();
  const auto end = co_await as_result(data.perform(group));
  if (here.stop.stop_requested()) r.book().asked_to_stop(page);
  r.book().ended(page, end.code());
  if (!end)
    m->failed(r.number(), group->number(), end.failure());
  else if (const std::string wrong = data.judge(); !wrong.empty())
    r.accuse(wrong);
  else if (differ && group->size() > 1)
    m->did_not_notice(
        group->number(), group->size(),
        by_mistake && !(data.may_only_send() &&
                        part_of_step(right, group->rank(), group->size()).may_go_unmissed()));
}

/// All steps, until one fails: the group does not work any more then.
task<void> take_steps(rank& r, meeting_ptr m, communicator_ptr group, dice d) {
  const bool stops = m->stopping == r.number() && d.percent(60);
  const std::size_t chosen = d.below(m->steps.size());
  weft::task_environment& here = co_await weft::current_environment();
  scope fly(here);
  for (std::size_t i = 0; i != m->steps.size(); ++i) {
    if (stops && i == chosen)
      fly.start(as_result(weft::within(d.up_to(60us), take_step(r, m, group, i))));
    else
      fly.start(take_step(r, m, group, i));
    if (!m->at_once) static_cast<void>(co_await as_result(fly.join()));
    if (d.percent(20)) static_cast<void>(co_await as_result(weft::sleep_for(d.up_to(20us))));
  }
  static_cast<void>(co_await as_result(fly.join()));
}

task<void> attend(job& j, rank& r, meeting_ptr m, dice d) {
  // The revocations of groups that fail.
  r.book().hides(r.number(), 32);
  communicator_ptr group = r.group_of(m->number, m->members, m->one_host);
  for (unsigned round = 1;; ++round) {
    co_await take_steps(r, m, group, d.part(round));
    if (round == m->rounds) break;
    record& page = watch(r, m, "shrink");
    weft::task_environment& here = co_await weft::current_environment();
    auto next = co_await as_result(weft::collectives::regroup(
        weft::collectives::regrouping::shrink, group, j.views(r.number()), r.number()));
    if (here.stop.stop_requested()) r.book().asked_to_stop(page);
    r.book().ended(page, next.code());
    if (!next) break;
    group = next.value();
  }
  m->has_left(r.number());
}

constexpr std::array<std::size_t, 7> word_counts{0, 1, 1, 5, 20, 100, 600};

step throw_step(dice d) {
  const auto what = static_cast<kind>(d.below(weft::collectives::kinds));
  const std::size_t words = d.percent(4) ? d.between(1000, 9000) : d.one_of(word_counts);
  return {what, words, d.throw_one(), d.percent(40), d.throw_one()};
}

}  // namespace

void stage_collectives(job& j, const act& a) {
  dice d = a.chance;
  std::vector<node> members;
  for (node n = 0; n < j.plan().ranks.size(); ++n)
    if (n != j.plan().hostile && j.plan().takes_part(n) &&
        (n == a.first || n == a.second || d.part(n).percent(80)))
      members.push_back(n);
  if (members.size() < 2) return;
  if (d.percent(30)) std::rotate(members.begin(), members.begin() + 1, members.end());
  std::optional<node> stopping;
  if (d.percent(25)) stopping = d.one_of(members);
  std::optional<node> mistaken_one;
  if (d.percent(15)) mistaken_one = d.one_of(members);
  const auto m = std::make_shared<meeting>(j, group_of(a), std::move(members), stopping);
  m->mistaken_one = mistaken_one;
  m->at_once = d.percent(30);
  m->one_host = d.percent(50);
  m->rounds = static_cast<unsigned>(d.between(1, 4));
  const std::uint64_t most = j.plan().wanted.messages.value_or(6);
  for (std::uint64_t n = d.between(1, std::min<std::uint64_t>(most, 6)); n != 0; --n)
    m->steps.push_back(throw_step(d.part(10 + n)));
  m->mistake = d.below(m->steps.size());
  for (const node n : m->members) {
    dice own = d.part(100 + n);
    j.when_there(n, a.when + own.up_to(own.percent(20) ? 300us : 30us),
                 [&j, m, own](rank& r) { r.play(attend(j, r, m, own)); });
  }
  j.judge_by([m] { return m->judge(); });
}

}  // namespace sim
