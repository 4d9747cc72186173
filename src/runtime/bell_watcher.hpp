// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/event_fd.hpp"
#include "runtime/wait_set.hpp"

namespace weft::runtime {

/// Drains a bell whenever it has woken the thread that sleeps on it.
class bell_watcher final : public fd_watcher {
 public:
  explicit bell_watcher(event_fd& bell) noexcept : bell_(bell) {}
  void on_ready(std::uint32_t /*events*/) noexcept override { bell_.drain(); }

 private:
  event_fd& bell_;
};

}  // namespace weft::runtime
