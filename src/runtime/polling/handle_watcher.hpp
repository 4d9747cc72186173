// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/epoll.h>

#include <utility>

#include <weft/transport/pollable.hpp>

#include "runtime/sleep/wait_set.hpp"

namespace weft::runtime {

/// A pollable's handle in one thread's wait set. Used by that thread; members that touch the
/// pollable need the progress lock.
class handle_watcher final : public fd_watcher {
 public:
  handle_watcher(pollable& of, wait_set& set, bool stays) noexcept
      : pollable_(of), set_(set), stays_(stays) {}

  /// Adds the handle to the set, if it is not in it yet. \throws weft::error when the kernel
  /// refuses
  void watch() {
    if (!std::exchange(watching_, true)) set_.add(pollable_.handle(), EPOLLIN, *this);
  }

  bool worth_watching() const noexcept { return pollable_.worth_watching; }

  /// Progress lock held: tells the pollable that its handle was readable.
  void tell() noexcept {
    if (std::exchange(ready_, false)) pollable_.on_ready();
  }

 private:
  void on_ready(std::uint32_t /*events*/) noexcept override {
    ready_ = true;
    if (stays_) return;
    watching_ = false;
    set_.remove(pollable_.handle());
  }

  pollable& pollable_;
  wait_set& set_;
  const bool stays_;  // in the set; else the handle leaves the set once it was readable
  bool watching_ = false;
  bool ready_ = false;
};

}  // namespace weft::runtime
