// SPDX-License-Identifier: Apache-2.0
// What readable and writable return, and the operation that is made of it, with the functions that
// weft/operations/messages.hpp tells of. The descriptor stays the caller's.
#pragma once

#include <string>

#include <weft/coro/detail/request.hpp>
#include <weft/coro/operation.hpp>
#include <weft/detail/fd_wait.hpp>

namespace weft {

class ready_operation;

/// What `readable` and `writable` return.
struct [[nodiscard]] ready_request {
  using value_type = void;
  using operation_type = ready_operation;
  detail::fd_wait_service* waits;
  executor* home;
  int fd;
  bool to_write;
};

/// A wait for a descriptor.
class ready_operation : public operation, private detail::fd_wait {
 public:
  ready_operation(const ready_request& r, complete_fn f) noexcept;
  bool start() noexcept;
  void cancel() noexcept { request_.waits->cancel(*this); }
  void take() const noexcept {}
  std::string explain() const;

 private:
  void on_end(errc outcome, const std::string& why) noexcept override;

  const ready_request request_;
  std::string why_;
};

}  // namespace weft
