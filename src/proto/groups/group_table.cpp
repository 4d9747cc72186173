// SPDX-License-Identifier: Apache-2.0
#include "proto/groups/group_table.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "proto/match/match.hpp"
#include "proto/peer/peer_registry.hpp"

namespace weft::proto {

/// A peer may send anything: what it says is an error in any case.
revocation revocation::unpack(std::uint64_t word) noexcept {
  const auto why = static_cast<errc>(word >> 32 & 0xffff), cause = static_cast<errc>(word >> 48);
  const bool known = why == errc::closed || why == errc::stopped || why == errc::refused ||
                     why == errc::invalid_argument;
  return {known ? why : errc::peer_lost, static_cast<peer_id>(word),
          cause <= errc::system ? cause : errc::ok};
}

/// A peer that says much loses what it said first; when all together have said too much, the oldest
/// goes. \return what had to go
template <class Entry>
std::optional<Entry> group_table::keep(std::deque<Entry>& of_all, Entry e, std::size_t limit,
                                       std::size_t limit_of_one) noexcept {
  const auto of_it = [&](const Entry& other) { return other.from == e.from; };
  auto first = of_all.end();
  if (std::count_if(of_all.begin(), of_all.end(), of_it) >=
      static_cast<std::ptrdiff_t>(limit_of_one))
    first = std::find_if(of_all.begin(), of_all.end(), of_it);
  else if (of_all.size() == limit)
    first = of_all.begin();
  std::optional<Entry> gone;
  if (first != of_all.end()) {
    gone = std::move(*first);
    of_all.erase(first);
  }
  try {
    of_all.push_back(std::move(e));
  } catch (const std::bad_alloc&) {
    // Its neighbours in the group say it, too.
  }
  return gone;
}

void group_table::remove(std::uint64_t group) noexcept {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return;
  begun_in_removed_ += found->second->begun();
  groups_.erase(found);
}

std::uint64_t group_table::begun() const noexcept {
  std::uint64_t all = begun_in_removed_;
  for (const auto& [number, group] : groups_) all += group->begun();
  return all;
}

bool group_table::add(std::uint64_t group, revocable& who) {
  if (!groups_.emplace(group, &who).second) return false;
  const auto of_member = std::find_if(said_.begin(), said_.end(), [&](const entry& e) {
    return e.group == group && who.has_member(e.from);
  });
  for (const early_statement& s : statements_)
    if (s.group == group && who.has_member(s.from)) who.on_statement(s.from, s.what);
  std::erase_if(statements_, [&](const early_statement& s) { return s.group == group; });
  for (const early_descriptor& d : descriptors_)
    if (d.group == group && who.has_member(d.from)) who.on_descriptor(d.from, d.file);
  std::erase_if(descriptors_, [&](const early_descriptor& d) { return d.group == group; });
  if (of_member == said_.end()) {
    peers_.for_each([&](peer& p) {
      for (inbound_message* in = p.unexpected.own.first; in; in = in->of_peer_after)
        if (is_of_group(in->tag, group)) who.on_unexpected(p, in->tag);
    });
    return true;
  }
  const revocation what = of_member->what;
  std::erase_if(said_, [&](const entry& e) { return e.group == group; });
  revoke(group, what);
  return true;
}

const revocation* group_table::find_revoked(std::uint64_t group) const noexcept {
  const std::size_t kept = std::min(revocations_, most_revoked);
  const auto found = std::find_if(revoked_.begin(), revoked_.begin() + kept,
                                  [&](const entry& e) { return e.group == group; });
  return found == revoked_.begin() + kept ? nullptr : &found->what;
}

const group_table::entry* group_table::find_said(std::uint64_t group, peer_id from) const noexcept {
  const auto found = std::find_if(said_.begin(), said_.end(), [&](const entry& e) {
    return e.group == group && e.from == from;
  });
  return found == said_.end() ? nullptr : &*found;
}

bool group_table::drops(std::uint64_t group, peer_id from) const noexcept {
  return find_revoked(group) || (!said_.empty() && find_said(group, from));
}

void group_table::on_revocation(peer_id from, std::uint64_t group,
                                const revocation& what) noexcept {
  if (const auto known = groups_.find(group); known != groups_.end()) {
    if (known->second->has_member(from)) revoke(group, what);
    return;
  }
  if (find_said(group, from)) return;
  keep(said_, entry{group, what, from}, most_said, most_of_one);
}

void group_table::on_statement(peer_id from, std::uint64_t group,
                               const group_statement& what) noexcept {
  if (revocable* const known = find(group)) {
    if (known->has_member(from)) known->on_statement(from, what);
  } else if (what.use != statement_use::asks && what.use != statement_use::contradicts) {
    keep(statements_, early_statement{group, what, from}, most_said, most_of_one);
  }
}

void group_table::pass(peer& to, std::uint64_t group, unique_fd file) noexcept {
  if (to.connection().is_open()) return pass_now(to, group, file);
  try {
    if (file && !to.has_ended()) {
      passing_.push_back({group, std::move(file), &to});
      return to.connection().want_link();
    }
  } catch (const std::bad_alloc&) {
    // It is as if there were no descriptor.
  }
  not_passed(to, group);
}

void group_table::pass_now(peer& to, std::uint64_t group, const unique_fd& file) noexcept {
  const bool passed = file && to.connection().link()->pass(file, static_cast<std::uint32_t>(group));
  if (!passed) not_passed(to, group);
}

void group_table::say_no_segment(peer& to, std::uint64_t group) noexcept {
  if (!to.has_ended() && !to.connection().closing())
    to.writer().send_control(frame_kind::signal, statement_tag(group, statement_use::no_segment), 0,
                             0);
}

/// The peer waits for an answer, also where this side has no such group any more. One that has
/// ended is lost: it has not refused, and the others are not to hear so.
void group_table::not_passed(peer& to, std::uint64_t group) noexcept {
  say_no_segment(to, group);
  revocable* const known = find(group);
  if (!known) return;
  if (to.has_ended())
    known->on_member_ended(to.id(), to.why());
  else
    known->on_not_passed(to.id());
}

void group_table::on_opened(peer& to) noexcept {
  for (std::size_t i = 0; i < passing_.size();) {
    if (passing_[i].to != &to) {
      ++i;
      continue;
    }
    const passing one = std::move(passing_[i]);
    passing_.erase(passing_.begin() + static_cast<std::ptrdiff_t>(i));
    pass_now(to, one.group, one.file);
  }
}

void group_table::on_descriptor(peer_id from, std::uint64_t group, unique_fd file) noexcept {
  if (revocable* const known = find(group)) {
    if (known->has_member(from)) known->on_descriptor(from, file);
    return;
  }
  const auto gone = keep(descriptors_, early_descriptor{group, std::move(file), from},
                         most_descriptors, most_descriptors_of_one);
  if (!gone) return;
  // As if this side could not map it: both hear of it, or they would wait for each other.
  keep(statements_, early_statement{gone->group, {statement_use::no_segment, 0, 0}, gone->from},
       most_said, most_of_one);
  peers_.for_each([&](peer& p) {
    if (p.id() == gone->from) say_no_segment(p, gone->group);
  });
}

namespace {

/// Frees itself.
class ended_member final : public operation {
 public:
  ended_member(const protocol_services& s, group_table& all, const peer& who) noexcept
      : operation([](operation& op) noexcept {
          const std::unique_ptr<ended_member> self(static_cast<ended_member*>(&op));
          const runtime::engine::holder hold(self->services_.engine);
          self->all_.tell_ended(self->who_, self->why_);
        }),
        services_(s),
        all_(all),
        who_(who.id()),
        why_(who.why()) {
    on = &s.engine.background();
  }

 private:
  const protocol_services& services_;
  group_table& all_;
  const peer_id who_;
  const errc why_;
};

}  // namespace

void group_table::on_ended(const peer& who) noexcept {
  std::erase_if(passing_, [&](const passing& p) { return p.to == &who; });
  const auto has_it = [&](const auto& g) { return g.second->has_member(who.id()); };
  if (closed_ || services_.ending || std::none_of(groups_.begin(), groups_.end(), has_it)) return;
  if (auto* const later = new (std::nothrow) ended_member(services_, *this, who))
    services_.engine.end_unposted(*later, errc::ok);
}

void group_table::close() noexcept {
  closed_ = true;
  for (const auto& [number, group] : groups_) group->on_closed();
}

void group_table::tell_ended(peer_id who, errc why) noexcept {
  if (closed_ || services_.ending) return;
  for (const auto& [number, group] : groups_)
    if (group->has_member(who)) group->on_member_ended(who, why);
}

void group_table::revoke(std::uint64_t group, const revocation& what) noexcept {
  if (find_revoked(group)) return;
  revoked_[revocations_++ % most_revoked] = {group, what};
  if (const auto found = groups_.find(group); found != groups_.end())
    found->second->on_revoked(what);
  const auto is_meant = [group](std::uint64_t tag) { return is_of_group(tag, group); };
  detail::match_operation* m = services_.matcher.take_posted_of(is_meant);
  for (detail::match_operation* next = nullptr; m; m = next) {
    next = m->after;
    services_.engine.end(*m, what.why);
  }
  peers_.for_each([&](peer& p) {
    for (inbound_message* in = p.unexpected.own.first, *next = nullptr; in; in = next) {
      next = in->of_peer_after;
      if (is_of_group(in->tag, group)) p.receiver().drop(*in);
    }
  });
}

}  // namespace weft::proto
