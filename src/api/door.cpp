// SPDX-License-Identifier: Apache-2.0
#include "api/door.hpp"

#include <algorithm>

namespace weft::detail {

namespace {
constexpr std::size_t many_visitors = 64;
}

void door_state::arrive(visit_ptr v) {
  std::shared_ptr<mailbox<visit_ptr>> box;
  do {
    const std::lock_guard lock(mutex);
    if (closed) return;  // dropping the visit rejects it
    if (waiting.empty()) {
      // Who has left is not to be kept for a listener that is busy elsewhere.
      if (visitors.size() >= many_visitors)
        std::erase_if(visitors, [](const visit_ptr& one) { return one->left(); });
      visitors.push_back(std::move(v));
      return;
    }
    box = std::move(waiting.front());
    waiting.pop_front();
  } while (!box->offer(v));  // that wait was given up
}

void door_state::wait(const std::shared_ptr<mailbox<visit_ptr>>& box) {
  visit_ptr v;
  {
    const std::lock_guard lock(mutex);
    std::erase_if(waiting, [](const auto& w) { return w->over(); });
    if (!closed && visitors.empty()) {
      waiting.push_back(box);
      return;
    }
    if (!visitors.empty()) {
      v = std::move(visitors.front());
      visitors.pop_front();
    }
  }
  if (!v) return box->fail(errc::closed, "the listener was closed");
  if (!box->offer(v)) arrive(std::move(v));
}

void door_state::close() {
  std::deque<visit_ptr> turned_away;
  std::deque<std::shared_ptr<mailbox<visit_ptr>>> disappointed;
  if (owner->engine().is_inherited()) return;  // it is the parent's, as is the mutex
  {
    const std::lock_guard lock(mutex);
    if (closed) return;
    closed = true;
    turned_away.swap(visitors);
    disappointed.swap(waiting);
  }
  owner->manager().close_door(number);
  owner->remove_door(number);
  for (const auto& box : disappointed) box->fail(errc::closed, "the listener was closed");
}

}  // namespace weft::detail
