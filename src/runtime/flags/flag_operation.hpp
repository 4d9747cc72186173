// SPDX-License-Identifier: Apache-2.0
// A wait for flags, as an operation.
#pragma once

#include <cstdint>
#include <string>

#include <weft/coro/operation.hpp>

#include "runtime/flags/flag_segment.hpp"

namespace weft::runtime {

class flag_operation;

/// The engine, as waits for flags see it. Any thread, without the progress lock.
class flag_wait_service {
 public:
  /// \return true: it has ended, and its status is set
  virtual bool start(flag_operation& op) noexcept = 0;
  virtual void cancel(flag_operation& op) noexcept = 0;

 protected:
  ~flag_wait_service() = default;
};

/// Until all flags of a range have a value, or a higher one. What weft/coro/detail/request.hpp asks
/// for.
struct [[nodiscard]] flag_request {
  using value_type = void;
  using operation_type = flag_operation;
  flag_wait_service* waits;
  flag_segment* segment;
  flag_range range;
  std::uint64_t value;

  bool try_now() const noexcept { return segment->have(range, value); }
};

/// A wait under way. Ends with the error of flag_waits::fail if that comes before the flags.
class flag_operation : public operation {
 public:
  flag_operation(const flag_request& r, complete_fn f) noexcept
      : operation(f), request(r), next_(r.range.first) {}
  bool start() noexcept { return request.waits->start(*this); }
  void cancel() noexcept { request.waits->cancel(*this); }
  void take() const noexcept {}
  std::string explain() const;

  const flag_request request;

 private:
  friend class flag_waits;

  /// Goes past the flags that have the value. \return whether all have
  bool look() noexcept {
    for (; next_ != request.range.first + request.range.count; ++next_)
      if (request.segment->at(next_).value.load(std::memory_order_acquire) < request.value)
        return false;
    return true;
  }

  std::uint32_t next_;  // the first flag that had not the value
  bool waits_ = false, stopped_ = false;
  flag_operation* after_ = nullptr;  // in the segment's list
};

}  // namespace weft::runtime
