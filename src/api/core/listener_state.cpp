// SPDX-License-Identifier: Apache-2.0
#include "api/core/listener_state.hpp"

#include <algorithm>

namespace weft::detail {

namespace {
constexpr std::size_t many_requests = 64;
}

void listener_state::arrive(request_ptr request) {
  std::shared_ptr<oneshot<request_ptr>> box;
  do {
    const std::lock_guard lock(mutex);
    if (closed) return;  // dropping the request rejects it
    if (waiting.empty()) {
      // Requesters that have left are not kept for a listener that accepts none.
      if (requests.size() >= many_requests)
        std::erase_if(requests, [](const request_ptr& one) { return one->has_ended(); });
      requests.push_back(std::move(request));
      return;
    }
    box = std::move(waiting.front());
    waiting.pop_front();
  } while (!box->offer(request));  // that wait was stopped
}

void listener_state::wait(const std::shared_ptr<oneshot<request_ptr>>& box) {
  request_ptr request;
  {
    const std::lock_guard lock(mutex);
    std::erase_if(waiting, [](const auto& w) { return w->over(); });
    if (!closed && requests.empty()) {
      waiting.push_back(box);
      return;
    }
    if (!requests.empty()) {
      request = std::move(requests.front());
      requests.pop_front();
    }
  }
  if (!request) return box->fail(errc::closed, "the listener was closed");
  if (!box->offer(request)) arrive(std::move(request));
}

void listener_state::close() {
  std::deque<request_ptr> refused;
  std::deque<std::shared_ptr<oneshot<request_ptr>>> waiters;
  if (owner->engine().is_inherited()) return;  // the socket and the mutex are the parent's
  {
    const std::lock_guard lock(mutex);
    if (closed) return;
    closed = true;
    refused.swap(requests);
    waiters.swap(waiting);
  }
  owner->manager().close_listener(number);
  owner->plane().remove_listener(number);
  for (const auto& box : waiters) box->fail(errc::closed, "the listener was closed");
}

}  // namespace weft::detail
