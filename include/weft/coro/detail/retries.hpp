// SPDX-License-Identifier: Apache-2.0
// The count, the time and the pauses of with_retry.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <weft/coro/detail/timer.hpp>
#include <weft/error.hpp>

namespace weft {

struct retry_policy;

namespace detail {

/// Lives in the frame of with_retry, and refers to its policy.
class retries {
 public:
  retries(const retry_policy& policy, timer_service& clock) noexcept;

  time_point end() const noexcept { return end_; }  ///< when all attempts end

  /// An attempt has failed. \return how long to wait for the next one
  /// \throws weft::error if there is none
  std::chrono::nanoseconds pause_after(const error& e);
  /// \throws weft::error of that kind, with the text of the last attempt's
  [[noreturn]] void give_up(errc why) const;

 private:
  std::uint64_t random() noexcept;

  const retry_policy& policy_;
  timer_service& clock_;
  const time_point begin_;
  const time_point end_;
  unsigned attempts_ = 0;
  std::chrono::nanoseconds bound_;
  std::uint64_t dice_;
  std::optional<error> last_;
};

}  // namespace detail
}  // namespace weft
