// SPDX-License-Identifier: Apache-2.0
// The wait set of a thread of the engine, and the descriptors that wake the thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include <weft/transport/pollable.hpp>

#include "runtime/descriptors/event_fd.hpp"
#include "runtime/descriptors/remote_wakeup.hpp"
#include "runtime/polling/handle_watcher.hpp"
#include "runtime/sleep/bell_watcher.hpp"
#include "runtime/sleep/wait_set.hpp"
#include "runtime/trace/probes.hpp"

namespace weft::runtime {

/// One sleeping thread's wait set with the thread's two bells and the handles of pollables
/// (docs/adr/0003). Owned by the engine, used by one thread at a time.
class reactor {
 public:
  /// Whether a handle stays in the set, or leaves it once it was found readable. Handles of the
  /// progress thread leave: otherwise each message to a polling caller would wake that thread.
  enum class handles : std::uint8_t { stay, leave };

  /// \throws weft::error when the kernel refuses
  reactor(std::unique_ptr<wait_set> set, event_fd& bell, wakeup_receiver& wakeup, handles how);
  reactor(const reactor&) = delete;
  reactor& operator=(const reactor&) = delete;

  /// Adds a pollable's handle, and watches it if handles stay. Does nothing for a pollable without
  /// one.
  /// \throws weft::error when the kernel refuses
  void add(pollable& s);

  /// Whether a handle may become readable. Progress lock held.
  bool expects_handles() const noexcept;
  /// Watches the handles that may become readable. Progress lock held.
  void watch_handles() noexcept;
  /// Tells pollables whose handles were found readable. Progress lock held.
  void dispatch_ready() noexcept {
    for (handle_watcher& h : handles_) h.tell();
  }

  unsigned poll() noexcept { return set_->poll(); }
  /// Sleeps until a watcher was called or the deadline has come. \return how many were called
  unsigned wait(time_point deadline) noexcept {
    probe::sleep();
    const unsigned called = set_->wait(deadline);
    probe::wake(called);
    return called;
  }

  wait_set& set() noexcept { return *set_; }
  const wait_set& set() const noexcept { return *set_; }

 private:
  const std::unique_ptr<wait_set> set_;
  const handles how_;
  std::deque<handle_watcher> handles_;
  bell_watcher<event_fd> bell_watcher_;
  bell_watcher<wakeup_receiver> wakeup_watcher_;
};

}  // namespace weft::runtime
