// SPDX-License-Identifier: Apache-2.0
#include "api/listener_state.hpp"

#include <algorithm>

namespace weft::detail {

namespace {
constexpr std::size_t many_visitors = 64;
}

void listener_state::arrive(request_ptr v) {
  std::shared_ptr<oneshot<request_ptr>> box;
  do {
    const std::lock_guard lock(mutex);
    if (closed) return;  // dropping the visit rejects it
    if (waiting.empty()) {
      // Who has left is not to be kept for a listener that is busy elsewhere.
      if (requests.size() >= many_visitors)
        std::erase_if(requests, [](const request_ptr& one) { return one->left(); });
      requests.push_back(std::move(v));
      return;
    }
    box = std::move(waiting.front());
    waiting.pop_front();
  } while (!box->offer(v));  // that wait was given up
}

void listener_state::wait(const std::shared_ptr<oneshot<request_ptr>>& box) {
  request_ptr v;
  {
    const std::lock_guard lock(mutex);
    std::erase_if(waiting, [](const auto& w) { return w->over(); });
    if (!closed && requests.empty()) {
      waiting.push_back(box);
      return;
    }
    if (!requests.empty()) {
      v = std::move(requests.front());
      requests.pop_front();
    }
  }
  if (!v) return box->fail(errc::closed, "the listener was closed");
  if (!box->offer(v)) arrive(std::move(v));
}

void listener_state::close() {
  std::deque<request_ptr> turned_away;
  std::deque<std::shared_ptr<oneshot<request_ptr>>> disappointed;
  if (owner->engine().is_inherited()) return;  // it is the parent's, as is the mutex
  {
    const std::lock_guard lock(mutex);
    if (closed) return;
    closed = true;
    turned_away.swap(requests);
    disappointed.swap(waiting);
  }
  owner->manager().close_listener(number);
  owner->remove_listener(number);
  for (const auto& box : disappointed) box->fail(errc::closed, "the listener was closed");
}

}  // namespace weft::detail
