// SPDX-License-Identifier: Apache-2.0
#include "proto/groups/group_watch.hpp"

#include <algorithm>

#include "proto/groups/group_table.hpp"
#include "proto/match/match.hpp"

namespace weft::proto {

void group_watch::begin(const protocol_services& s, const group_table& all, std::uint64_t group) {
  std::uint64_t posted = 0;
  {
    const runtime::engine::holder hold(s.engine);
    posted = s.matcher.posted();
  }
  (new group_watch(s, all, group, posted))->wait();
}

/// On the background executor: then no progress lock is held when it ends.
group_watch::group_watch(const protocol_services& s, const group_table& all, std::uint64_t group,
                         std::uint64_t posted) noexcept
    : timer([](operation& op) noexcept { static_cast<group_watch&>(op).look(); }),
      services_(s),
      all_(all),
      group_(group),
      posted_(posted) {
  on = &s.engine.background();
}

void group_watch::wait() noexcept {
  when = services_.engine.now() + first_look * (1u << std::min(looks_, most_doublings));
  services_.engine.start(*this);
}

void group_watch::look() noexcept {
  bool again = false;
  if (status == errc::ok || status == errc::out_of_memory) {
    const runtime::engine::holder hold(services_.engine);
    revocable* const group = all_.find(group_);
    const bool last = ++looks_ == most_looks || status != errc::ok;
    again = group && group->on_watch(posted_, last);
    posted_ = services_.matcher.posted();
  }
  if (!again) {
    delete this;
    return;
  }
  status = errc::ok;
  wait();
}

}  // namespace weft::proto
