// SPDX-License-Identifier: Apache-2.0
// What may have happened, and what must have.
#include <algorithm>

#include "sim/ledger.hpp"
#include "sim/service.hpp"
#include "sim/shared_memory.hpp"

namespace sim {

bool ledger::spoiled(node a, node b) const {
  return a == hostile || b == hostile || spoiled_.contains({a, b}) || spoiled_.contains({b, a}) ||
         spoiled_alone_.contains(a) || spoiled_alone_.contains(b);
}

/// The first one closes the other one, and has no credit for the sends before it: docs/
/// reliability.md. Nothing else has happened between the two.
bool ledger::waits_to_close(node a, node b) const {
  if (spoiled_alone(a) || spoiled_alone(b)) return false;
  const auto is_closed_only = [&](node at, node whom) {
    const auto found = spoiled_.find({at, whom});
    return found == spoiled_.end() || found->second == std::set{errc::closed};
  };
  if (!is_closed_only(a, b) || !is_closed_only(b, a)) return false;
  return closes_.contains({a, b}) && starved(a, b);
}

/// Only messages that no receive takes can hold credit for ever: job::judge_calls. A call that has
/// left needs none, and its answer has credit of its own.
bool ledger::waits_for_credit(const record& r) const {
  if (!r.with || r.answers) return false;
  if (waits_to_close(*r.with, r.at)) return true;
  if (r.what != "call" && r.what != "post") return waits_to_close(r.at, *r.with);
  return !static_cast<const call_record&>(r).has_left() && starved(r.at, *r.with);
}

bool ledger::may_end_like(const record& r, errc status) const {
  if (status == errc::ok || (status == errc::truncated && r.what == "receive")) return true;
  if (status == errc::stopped) return r.asked_to_stop || (r.may_end && r.may_end(status));
  if (may_be_hostile(r)) return true;
  if (r.may_end && r.may_end(status)) return true;
  if (const auto alone = spoiled_alone_.find(r.at);
      alone != spoiled_alone_.end() && alone->second.contains(status))
    return true;
  // A receive from any source may have matched a message of a rank that then was lost.
  return std::any_of(spoiled_.begin(), spoiled_.end(), [&](const auto& pair) {
    const auto& [at, whom] = pair.first;
    return at == r.at && whom == r.with.value_or(whom) && pair.second.contains(status);
  });
}

/// Whether that message may be one of those that were lost with a stopped receive. At most as many
/// messages of a stream are excused as receives reported.
/// \param before how many of each stream have been excused
bool ledger::excused(const message_record& m, std::map<stream, unsigned>& before) const {
  const stream s{m.at, *m.with, m.tag};
  const auto told = dropped_.find(s);
  if (told == dropped_.end() || before[s] == told->second) return false;
  ++before[s];
  return true;
}

void ledger::judge_waiting(const record& r) {
  // It may have taken a message's beginning from the hostile rank, and wait for the rest.
  const bool may_be_held = r.hostile_may_hold || (!r.with && r.what == "receive");
  if (hostile && (r.with == hostile || may_be_held) && !gone(r.at, *hostile)) return;
  if (waits_for_credit(r)) return;
  if (r.with && spoiled(r.at, *r.with)) {
    log_.violation("{} still waits, and that rank is gone", name_of(r));
    return;
  }
  if (r.what == "send") {
    if (static_cast<const message_record&>(r).taken_by)
      log_.violation("{} still waits, and the message was received", name_of(r));
    return;
  }
  if (r.may_wait && r.may_wait()) return;
  if (r.always_ends) {
    log_.violation("{} still waits, and nothing stands in its way", name_of(r));
    return;
  }
  if (r.what != "receive" && r.what != "probe") return;
  const auto& waiting = static_cast<const receive_record&>(r);
  std::map<stream, unsigned> excuses;
  for (const message_record& m : messages_) {
    if (!can_match(m, waiting) || m.taken_by || spoiled(m.at, *m.with)) continue;
    const bool withdrawn = m.ends != 0 && !m.went_well();
    if (withdrawn || starved(m.at, *m.with) || excused(m, excuses)) continue;
    log_.violation("{} still waits, and {} could have come", name_of(r), name_of(m));
    return;
  }
}

void ledger::judge_order() {
  std::map<stream, const message_record*> last;
  for (const receive_record* r : posted_) {
    const message_record* m = r->message;
    if (!m) continue;
    const message_record*& before = last[{m->at, *m->with, m->tag}];
    if (before && before->place >= m->place)
      log_.violation("{} overtook {}", name_of(*before), name_of(*m));
    before = m;
  }
  std::map<stream, unsigned> excuses;
  for (const auto& [s, latest] : last) {
    if (spoiled(std::get<0>(s), std::get<1>(s))) continue;
    for (const message_record* m : streams_[s])
      if (m->place < latest->place && m->begun && !m->taken_by &&
          (m->went_well() || !m->asked_to_stop) && !excused(*m, excuses))
        log_.violation("{} was lost: a later one arrived", name_of(*m));
  }
}

/// Calls of one caller begin in order, and a post that has left is served.
void ledger::judge_services() {
  std::set<const service*> all;
  for (const call_record& c : calls_) {
    const bool first = all.insert(c.there.get()).second;
    if (spoiled(c.at, *c.with) || !first) continue;
    if (const std::string wrong = c.there->judge_order(); !wrong.empty())
      log_.violation("the handler of {}: {}", name_of(c), wrong);
  }
}

void ledger::at_end() {
  judge_order();
  judge_services();
  for (record* r : all_) {
    judge_buffer(*r);
    if (r->begun && r->ends == 0) log_.violation("{} never ended", name_of(*r));
  }
  std::set<const shared_memory*> regions;
  for (const access_record& a : accesses_)
    if (!a.there->open_to_all && regions.insert(a.there.get()).second)
      if (const std::string wrong = a.there->judge_rest(); !wrong.empty())
        log_.violation("a region that rank {} knows: {}", a.at, wrong);
  std::map<stream, unsigned> excuses;
  for (const message_record& m : messages_) {
    if (m.taken_by && m.ends != 0 && m.status == errc::stopped)
      log_.violation("{} was stopped, and received all the same", name_of(m));
    if (m.synchronous && m.went_well() && !m.taken_by && !spoiled(m.at, *m.with) &&
        !excused(m, excuses))
      log_.violation("{} counts as received, and was not", name_of(m));
  }
}

}  // namespace sim
