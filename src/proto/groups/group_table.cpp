// SPDX-License-Identifier: Apache-2.0
#include "proto/groups/group_table.hpp"

#include <algorithm>
#include <new>

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
/// goes.
template <class Entry>
void group_table::keep(std::deque<Entry>& of_all, const Entry& e) noexcept {
  const auto of_it = [&](const Entry& other) { return other.from == e.from; };
  if (std::count_if(of_all.begin(), of_all.end(), of_it) >= std::ptrdiff_t{most_of_one})
    of_all.erase(std::find_if(of_all.begin(), of_all.end(), of_it));
  else if (of_all.size() == most_said)
    of_all.pop_front();
  try {
    of_all.push_back(e);
  } catch (const std::bad_alloc&) {
    // Its neighbours in the group say it, too.
  }
}

bool group_table::add(std::uint64_t group, revocable& who) {
  if (!groups_.emplace(group, &who).second) return false;
  const auto of_member = std::find_if(said_.begin(), said_.end(), [&](const entry& e) {
    return e.group == group && who.has_member(e.from);
  });
  for (const early_statement& s : statements_)
    if (s.group == group && who.has_member(s.from)) who.on_statement(s.from, s.what);
  std::erase_if(statements_, [&](const early_statement& s) { return s.group == group; });
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
  keep(said_, {group, what, from});
}

void group_table::on_statement(peer_id from, std::uint64_t group,
                               const group_statement& what) noexcept {
  if (revocable* const known = find(group)) {
    if (known->has_member(from)) known->on_statement(from, what);
  } else if (what.use == statement_use::tells || what.use == statement_use::lost) {
    keep(statements_, {group, what, from});
  }
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
