// SPDX-License-Identifier: Apache-2.0
// The state of progress: which thread of a process makes it.
#pragma once

#include <atomic>
#include <cstdint>

#include <weft/coro/detail/timer.hpp>

namespace weft::runtime {

/// docs/threading.md, "The states of progress", draws them.
enum class progress_state : std::uint8_t {
  idle,       ///< no thread: the caller is in user code, and nothing is pending
  polling,    ///< the caller; an external loop is expected to poll again soon
  computing,  ///< the progress thread, if there is one: frames that need a reaction wake it
  listening,  ///< the progress thread: every message wakes it
  asleep,     ///< no thread, until a bell, a deadline or a descriptor wakes the caller
};

constexpr const char* name_of(progress_state s) noexcept {
  switch (s) {
    case progress_state::idle:
      return "idle";
    case progress_state::polling:
      return "polling";
    case progress_state::computing:
      return "computing";
    case progress_state::listening:
      return "listening";
    case progress_state::asleep:
      return "asleep";
  }
  return "?";
}

/// The state of the caller: the thread inside run(), or the owner of an external loop. Written with
/// the progress lock held.
struct caller_state {
  bool polls = false;       ///< it is in a polling loop
  bool polls_soon = false;  ///< external loop: its last poll was empty, so that another one follows
  /// It sleeps, or polls once more before it does. Any thread reads.
  std::atomic<bool> asleep{false};
  detail::time_point deadline{};  ///< until when it sleeps
  /// The event loop of another library takes turns (embedded_polling). Any thread reads.
  std::atomic<bool> embedded{false};
  /// No thread is inside run(): an external loop polls. Any thread reads.
  std::atomic<bool> by_calls{false};
  std::atomic<std::uint32_t> polls_by_calls{0};  ///< counts polls by calls; any thread reads

  bool is_asleep() const noexcept { return asleep.load(std::memory_order_relaxed); }
  /// It is in user code, and may stay there.
  bool is_away() const noexcept { return !polls && !polls_soon && !is_asleep(); }
};

}  // namespace weft::runtime
