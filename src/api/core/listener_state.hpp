// SPDX-License-Identifier: Apache-2.0
// The state behind listener and listener::connection_request.
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "api/core/callback_request.hpp"
#include "api/core/core.hpp"

namespace weft::detail {

/// Connection requests that have come, and coroutines that wait for one. Shared by the listener and
/// the control plane's thread.
struct listener_state {
  using request_ptr = std::shared_ptr<wireup::incoming_request>;

  core* owner = nullptr;
  std::uint64_t number = 0;
  std::string address;
  std::mutex mutex;
  std::deque<request_ptr> requests;                           // guarded by mutex
  std::deque<std::shared_ptr<oneshot<request_ptr>>> waiting;  // guarded by mutex
  bool closed = false;                                        // guarded by mutex

  void arrive(request_ptr request);
  void wait(const std::shared_ptr<oneshot<request_ptr>>& box);
  void close();
};

}  // namespace weft::detail
