// SPDX-License-Identifier: Apache-2.0
// What the operations of a file return, and the operation that is made of it, with the functions
// that weft/operations/messages.hpp tells of. A buffer is the caller's again at the end, also after
// a stop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <weft/coro/detail/request.hpp>
#include <weft/detail/file_job.hpp>

namespace weft {

namespace detail {
struct file_state;
}

template <class Value>
class file_operation;

/// What the operations of `file` return. \tparam Value the type of its result
template <class Value>
struct [[nodiscard]] file_request {
  using value_type = Value;
  using operation_type = file_operation<Value>;
  const detail::file_state* of;  ///< null: no file
  detail::file_job::call what;
  std::uint64_t offset = 0;
  void* memory = nullptr;
  std::size_t size = 0;
};

namespace detail {

/// What operations on files have in common.
class any_file_operation : public file_job {
 public:
  bool start() noexcept;
  void cancel() noexcept;
  std::string explain() const;

 protected:
  template <class Value>
  any_file_operation(const file_request<Value>& r, complete_fn f) noexcept
      : file_job(f), of_(r.of) {
    what = r.what;
    memory = r.memory;
    size = r.size;
    wanted_ = r.offset;
  }
  ~any_file_operation() = default;

 private:
  const file_state* const of_;
  std::uint64_t wanted_ = 0;  // the offset, which need not be a valid one
};

}  // namespace detail

/// An operation on a file in flight.
template <class Value>
class file_operation : public detail::any_file_operation {
 public:
  file_operation(const file_request<Value>& r, complete_fn f) noexcept
      : detail::any_file_operation(r, f) {}
  Value take() const noexcept {
    if constexpr (!std::is_void_v<Value>) return static_cast<Value>(result);
  }
};

}  // namespace weft
