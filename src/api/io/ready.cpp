// SPDX-License-Identifier: Apache-2.0
#include <weft/io/ready.hpp>

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "api/core/core.hpp"

namespace weft {

ready_operation::ready_operation(const ready_request& r, complete_fn f) noexcept
    : operation(f), fd_wait(r.fd, r.to_write ? EPOLLOUT : EPOLLIN), request_(r) {}

/// A look costs less than a wait, which the thread that sleeps has to take up. It also tells what
/// no wait set tells: that the descriptor is not open, or always ready.
bool ready_operation::start() noexcept {
  pollfd look{fd(), static_cast<short>(request_.to_write ? POLLOUT : POLLIN), 0};
  if (!was_cancelled() && ::poll(&look, 1, 0) > 0) {
    if ((look.revents & POLLNVAL) != 0) status = errc::system;
    return true;
  }
  const errc refusal = request_.waits->start(*this);
  if (refusal == errc::ok) return false;  // it may have ended by now, and be gone
  status = refusal;
  return true;
}

void ready_operation::on_end(errc outcome, const std::string& why) noexcept {
  status = outcome;
  try {
    why_ = why;
  } catch (const std::bad_alloc&) {
    // The status tells most of it.
  }
  (on ? *on : *request_.home).post(*this);
}

std::string ready_operation::explain() const {
  switch (status) {
    case errc::stopped:
      return fmt::format("the wait for descriptor {} was stopped on request", fd());
    case errc::closed:
      return fmt::format("the context ended during the wait for descriptor {}", fd());
    case errc::system:
      if (why_.empty())
        return fmt::format(
            "{} is no open descriptor: {}; open it before, and close it after the "
            "wait has ended",
            fd(), std::strerror(EBADF));
      [[fallthrough]];
    default:
      return why_.empty() ? sentence_of(status) : why_;
  }
}

ready_request readable(context& ctx, int fd) {
  runtime::engine& e = detail::core_of(ctx).engine();
  return {&e, &e, fd, false};
}

ready_request writable(context& ctx, int fd) {
  runtime::engine& e = detail::core_of(ctx).engine();
  return {&e, &e, fd, true};
}

}  // namespace weft
