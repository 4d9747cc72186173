// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/sleep/wait_set.hpp"

namespace weft::runtime {

/// Drains a bell (an event_fd or a wakeup_receiver) whenever it has woken the thread that sleeps on
/// it.
template <class Bell>
class bell_watcher final : public fd_watcher {
 public:
  explicit bell_watcher(Bell& bell) noexcept : bell_(bell) {}
  void on_ready(std::uint32_t /*events*/) noexcept override { bell_.drain(); }

 private:
  Bell& bell_;
};

}  // namespace weft::runtime
