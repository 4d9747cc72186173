// SPDX-License-Identifier: Apache-2.0
// Timers as operations, and the service that ends them.
#pragma once

#include <chrono>
#include <cstddef>

#include <weft/coro/operation.hpp>

namespace weft::detail {

using time_point = std::chrono::steady_clock::time_point;

/// A wait for a point in time. Lives in its owner until it has ended, like every operation.
class timer : public operation {
 public:
  static constexpr std::size_t not_waiting = ~std::size_t{0};

  explicit timer(complete_fn f) noexcept : operation(f) {}

  time_point when{};                ///< set before start
  std::size_t place = not_waiting;  ///< used by the service, with its progress lock held
};

/// Ends timers at their time. A context is a timer service; a simulation has its own. All functions
/// may be called from any thread.
class timer_service {
 public:
  virtual ~timer_service() = default;

  virtual time_point now() const noexcept = 0;

  /// Ends `t` with errc::ok at or after `t.when`, with errc::closed when the service ends before or
  /// has ended, or with errc::out_of_memory at once.
  virtual void start(timer& t) noexcept = 0;

  /// Ends `t` with errc::stopped unless it has ended already or was not started. Either way `t`
  /// ends exactly once, through its `complete`.
  virtual void cancel(timer& t) noexcept = 0;
};

}  // namespace weft::detail
