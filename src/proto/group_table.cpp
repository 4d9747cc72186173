// SPDX-License-Identifier: Apache-2.0
#include "proto/group_table.hpp"

#include <algorithm>

#include "proto/messenger.hpp"

namespace weft::proto {

/// A peer may send anything: what it says is an error in any case.
revocation revocation::unpack(std::uint64_t word) noexcept {
  const std::uint64_t why = word >> 32;
  const bool known = why == static_cast<std::uint64_t>(errc::closed) ||
                     why == static_cast<std::uint64_t>(errc::stopped) ||
                     why == static_cast<std::uint64_t>(errc::refused);
  return {known ? static_cast<errc>(why) : errc::peer_lost, static_cast<peer_id>(word)};
}

const revocation* group_table::find_revoked(std::uint64_t group) const noexcept {
  const std::size_t kept = std::min(revocations_, most_revoked);
  const auto found = std::find_if(revoked_.begin(), revoked_.begin() + kept,
                                  [&](const entry& e) { return e.group == group; });
  return found == revoked_.begin() + kept ? nullptr : &found->what;
}

void group_table::revoke(std::uint64_t group, const revocation& what) noexcept {
  if (find_revoked(group)) return;
  revoked_[revocations_++ % most_revoked] = {group, what};
  if (const auto found = groups_.find(group); found != groups_.end())
    found->second->on_revoked(what);
  owner_.table().for_each_posted([&](detail::match_operation& m) {
    if (!m.tag.exact() || !is_of_group(m.tag.value, group)) return;
    owner_.table().withdraw(m);
    owner_.engine().end(m, what.why);
  });
  owner_.peers().for_each([&](peer& p) {
    for (inbound_message *m = p.unexpected.own.first, *next = nullptr; m; m = next) {
      next = m->of_peer_after;
      if (is_of_group(m->tag, group)) p.receiver().drop(*m);
    }
  });
}

}  // namespace weft::proto
