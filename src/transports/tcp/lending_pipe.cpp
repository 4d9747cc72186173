// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/lending_pipe.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "runtime/os/held_back_signal.hpp"

namespace weft::transports::tcp {

namespace {

// The most that an unprivileged process may have by default.
constexpr int capacity = 1024 * 1024;
// With less in a pipe, its system calls take longer than a copy. The kernel gives small pipes to a
// user whose pipes have many pages already.
constexpr int least_capacity = 256 * 1024;

/// splice has no MSG_NOSIGNAL. The signal also comes when a part was taken before.
ssize_t move_into(int socket, int pipe, std::size_t n, unsigned flags) noexcept {
  runtime::held_back_signal broken(SIGPIPE);
  const ssize_t moved = ::splice(pipe, nullptr, socket, nullptr, n, flags);
  if (moved != static_cast<ssize_t>(n)) broken.drop();
  return moved;
}

}  // namespace

ssize_t lending_pipe::send(int socket, const void* owner, const_buffer what, bool more) noexcept {
  if (left_ != 0 ? owner != owner_ : !fill(what)) return 0;
  owner_ = owner;
  const unsigned flags = SPLICE_F_NONBLOCK | (more || left_ < what.size() ? SPLICE_F_MORE : 0u);
  const ssize_t n = move_into(socket, out_.get(), left_, flags);
  if (n > 0) left_ -= static_cast<std::size_t>(n);
  if (n == 0) drop(owner);  // 0 asks for a copy of these bytes
  if (n >= 0 || errno == EAGAIN || errno == EINTR) return n;
  const int why = errno;
  drop(owner);
  if (why == EINVAL || why == ENOSYS || why == EPERM) {  // not for this socket, or not here at all
    usable_ = false;
    return 0;
  }
  errno = why;
  return n;
}

/// \return false: the kernel does not take that memory (a device's), or refuses the calls
bool lending_pipe::fill(const_buffer what) noexcept {
  if (!usable_) return false;
  if (!in_ && !open()) return false;
  iovec piece{const_cast<std::byte*>(what.data()), what.size()};  // it is only read
  const ssize_t n = ::vmsplice(in_.get(), &piece, 1, SPLICE_F_NONBLOCK);
  if (n < 0 && (errno == ENOSYS || errno == EPERM)) usable_ = false;
  left_ = n > 0 ? static_cast<std::size_t>(n) : 0;
  return left_ != 0;
}

bool lending_pipe::open() noexcept {
  int both[2];
  if (::pipe2(both, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  out_ = unique_fd(both[0]);
  in_ = unique_fd(both[1]);
  ::fcntl(in_.get(), F_SETPIPE_SZ, capacity);
  usable_ = ::fcntl(in_.get(), F_GETPIPE_SZ) >= least_capacity;
  if (usable_) {
    in_guard_.watch(in_.get());
    out_guard_.watch(out_.get());
  } else {
    close();
  }
  return usable_;
}

void lending_pipe::close() noexcept {
  in_guard_.drop();
  out_guard_.drop();
  in_ = {};
  out_ = {};
  left_ = 0;
}

void lending_pipe::drop(const void* owner) noexcept {
  if (left_ != 0 && owner == owner_) close();
}

}  // namespace weft::transports::tcp
