// SPDX-License-Identifier: Apache-2.0
#include "proto/groups/group_watch.hpp"

#include <algorithm>

#include "proto/messenger/messenger.hpp"

namespace weft::proto {

void group_watch::begin(messenger& m, std::uint64_t group) {
  std::uint64_t posted = 0;
  {
    const runtime::engine::holder hold(m.engine());
    posted = m.table().posted();
  }
  (new group_watch(m, group, posted))->wait();
}

/// On the background executor: then no progress lock is held when it ends.
group_watch::group_watch(messenger& m, std::uint64_t group, std::uint64_t posted) noexcept
    : timer([](operation& op) noexcept { static_cast<group_watch&>(op).look(); }),
      messenger_(m),
      group_(group),
      posted_(posted) {
  on = &m.engine().background();
}

void group_watch::wait() noexcept {
  when = messenger_.engine().now() + first_look * (1u << std::min(looks_, most_doublings));
  messenger_.engine().start(*this);
}

void group_watch::look() noexcept {
  bool again = false;
  if (status == errc::ok || status == errc::out_of_memory) {
    const runtime::engine::holder hold(messenger_.engine());
    revocable* const group = messenger_.groups().find(group_);
    const bool last = ++looks_ == most_looks || status != errc::ok;
    again = group && group->on_watch(posted_, last);
    posted_ = messenger_.table().posted();
  }
  if (!again) {
    delete this;
    return;
  }
  status = errc::ok;
  wait();
}

}  // namespace weft::proto
