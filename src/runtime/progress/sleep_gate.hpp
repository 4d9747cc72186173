// SPDX-License-Identifier: Apache-2.0
// Puts a thread to sleep without losing a message.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "runtime/progress/progress_core.hpp"

namespace weft::runtime {

/// The caller and the progress thread go to sleep in the same four steps:
///
///   arm:     announce the sleep to senders, with a fence    (doorbell)
///   poll:    asks all pollables once more (pollable::has_work); work is there: no sleep
///   sleep:   without the progress lock                       (reactor)
///   disarm:  take the announcement back
///
/// Owned by the engine. Progress lock held. Model: tests/models/doorbell.pml.
class sleep_gate {
 public:
  using condition = bool (*)(void*);

  explicit sleep_gate(progress_core& c) noexcept : core_(c) {}

  /// The first two steps of the caller. \param over whether the awaited event has happened; null:
  /// the end of any operation is awaited
  /// \return until when it may sleep at most; nothing: work is there, and it is disarmed
  std::optional<time_point> arm_caller(condition over = nullptr, void* argument = nullptr) noexcept;
  /// The last step of the caller. \param told a bell or a descriptor ended the sleep
  void disarm_caller(bool told) noexcept;
  /// disarm_caller after a sleep elsewhere, on the descriptor of the caller's wait set.
  void poll_and_disarm_caller() noexcept { disarm_caller(core_.caller_reactor->poll() != 0); }

  /// The first two steps of the progress thread, which is disarmed when it or the caller polls
  /// next. \param computes the caller does: messages for it wake this thread
  /// \return as above
  std::optional<time_point> arm_progress_thread(bool computes) noexcept;

 private:
  time_point rings_again() noexcept;

  static constexpr std::chrono::milliseconds shortest_until_wake{1}, longest_until_wake{256};

  progress_core& core_;
  // Time until a peer that has not read a message is rung again; doubles with each sleep without an
  // event.
  std::chrono::milliseconds until_wake_{shortest_until_wake};
};

}  // namespace weft::runtime
