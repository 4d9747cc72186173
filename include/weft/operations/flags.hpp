// SPDX-License-Identifier: Apache-2.0
// What the waits of shared_flags return, and the operation that is made of it, with the functions
// that weft/operations/messages.hpp tells of.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <weft/coro/detail/request.hpp>
#include <weft/coro/operation.hpp>

namespace weft {

namespace runtime {
class flag_segment;
class flag_wait_service;
class flag_waits;
}  // namespace runtime

class flag_operation;

/// Flags that lie behind each other.
struct flag_range {
  std::uint32_t first = 0, count = 0;
};

/// What `shared_flags::reaches` and `all_reach` return: until all flags of a range have a value, or
/// a higher one. The shared_flags live as long.
struct [[nodiscard]] flag_request {
  using value_type = void;
  using operation_type = flag_operation;
  runtime::flag_wait_service* waits;
  runtime::flag_segment* segment;
  flag_range range;
  std::uint64_t value;

  /// Whether they have it. Any thread.
  bool try_now() const noexcept;
};

/// A wait for flags. Ends well if the flags have come, whatever else has happened.
class flag_operation : public operation {
 public:
  flag_operation(const flag_request& r, complete_fn f) noexcept
      : operation(f), request(r), next_(r.range.first) {}
  bool start() noexcept;
  void cancel() noexcept;
  void take() const noexcept {}
  std::string explain() const;

  const flag_request request;

 private:
  friend class runtime::flag_waits;

  std::uint32_t next_;  // the first flag that had not the value
  bool waits_ = false, stopped_ = false;
  flag_operation* after_ = nullptr;         // in the segment's list
  std::shared_ptr<const std::string> why_;  // of a failure, if there is more to say
};

}  // namespace weft
