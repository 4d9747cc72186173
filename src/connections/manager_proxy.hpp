// SPDX-License-Identifier: Apache-2.0
// Posts to the control plane's thread, for threads that may outlive it.
#pragma once

#include <functional>
#include <mutex>

#include "wireup/manager/connection_manager.hpp"

namespace weft::connections {

/// The job's directory and the progress thread report things to the connection manager's thread
/// while the context may be ending. Shared by all of them; drops everything once it is shut.
class manager_proxy {
 public:
  void open(wireup::connection_manager& to) {
    const std::lock_guard lock(mutex_);
    to_ = &to;
  }

  /// Afterwards no call to the manager is under way, and none will be.
  void shut() {
    const std::lock_guard lock(mutex_);
    to_ = nullptr;
  }

  /// Runs `f` on the connection manager's thread, or drops it. Any thread.
  void post(std::function<void()> f) {
    const std::lock_guard lock(mutex_);
    if (to_) to_->post(std::move(f));
  }

 private:
  std::mutex mutex_;
  wireup::connection_manager* to_ = nullptr;  // guarded by mutex_
};

}  // namespace weft::connections
