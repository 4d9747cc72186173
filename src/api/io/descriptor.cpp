// SPDX-License-Identifier: Apache-2.0
#include <weft/io/descriptor.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <weft/coro/detail/awaitable.hpp>
#include <weft/io/ready.hpp>

#include "api/core/core.hpp"
#include "api/io/file_state.hpp"
#include "runtime/descriptors/fd.hpp"

namespace weft {

using detail::file_job;

namespace {

/// A read or write of a descriptor at its own position.
struct transfer {
  int fd;
  bool to_write;
  std::byte* memory;
  std::size_t size;
};

// The result of a try that would block the thread, or that the kernel cannot make without.
constexpr ssize_t would_block = -EAGAIN, needs_service = -EOPNOTSUPP;

ssize_t negative_errno(ssize_t n) noexcept {
  if (n >= 0) return n;
  return errno == EWOULDBLOCK ? would_block : -errno;
}

ssize_t plain(const transfer& t) noexcept {
  return negative_errno(t.to_write ? ::write(t.fd, t.memory, t.size)
                                   : ::read(t.fd, t.memory, t.size));
}

ssize_t on_socket(const transfer& t) noexcept {
  constexpr int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
  return negative_errno(t.to_write ? ::send(t.fd, t.memory, t.size, flags)
                                   : ::recv(t.fd, t.memory, t.size, flags));
}

ssize_t without_wait(const transfer& t) noexcept {
  const iovec memory{t.memory, t.size};
  return negative_errno(t.to_write ? ::pwritev2(t.fd, &memory, 1, -1, RWF_NOWAIT)
                                   : ::preadv2(t.fd, &memory, 1, -1, RWF_NOWAIT));
}

/// By an open file of its own, whose O_NONBLOCK is not seen by other processes.
ssize_t reopened(const transfer& t) noexcept {
  const std::string name = fmt::format("/proc/self/fd/{}", t.fd);
  const int flags = (t.to_write ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  const unique_fd own(::open(name.c_str(), flags));
  return own ? plain({own.get(), t.to_write, t.memory, t.size}) : needs_service;
}

/// Whether it is a terminal, and not the master of a pseudoterminal: to open that anew would make
/// another one.
bool is_terminal(int fd) noexcept {
  int number = 0;
  return ::isatty(fd) != 0 && ::ioctl(fd, TIOCGPTN, &number) != 0;
}

/// Reads or writes what is possible without blocking this thread.
ssize_t try_now(const transfer& t) noexcept {
  struct stat facts {};
  if (::fstat(t.fd, &facts) != 0) return -errno;
  if (S_ISSOCK(facts.st_mode)) return on_socket(t);
  if (S_ISREG(facts.st_mode) || S_ISBLK(facts.st_mode) || S_ISDIR(facts.st_mode))
    return needs_service;
  if ((::fcntl(t.fd, F_GETFL) & O_NONBLOCK) != 0) return plain(t);
  const ssize_t n = without_wait(t);
  if (n != needs_service) return n;
  return S_ISFIFO(facts.st_mode) || is_terminal(t.fd) ? reopened(t) : needs_service;
}

class transfer_operation;

struct transfer_request {
  using value_type = ssize_t;
  using operation_type = transfer_operation;
  detail::file_service* calls;
  transfer what;
};

/// What the service does after the descriptor was found ready. Its value may be a negative errno.
class transfer_operation : public file_job {
 public:
  transfer_operation(const transfer_request& r, complete_fn f) noexcept
      : file_job(f), calls_(*r.calls) {
    const transfer& t = r.what;
    what = t.to_write ? call::write : call::read;
    fd = t.fd;
    memory = t.memory;
    size = std::min(t.size, most_bytes(t));
    offset = at_position;
    tolerates_failure = true;
  }
  bool start() noexcept { return calls_.start(*this); }
  void cancel() noexcept { calls_.cancel(*this); }
  ssize_t take() const noexcept { return static_cast<ssize_t>(result); }
  std::string explain() const { return fmt::format("descriptor {}: {}", fd, sentence_of(status)); }

 private:
  /// A pipe or terminal that is writable has room for so many bytes: then the call does not wait
  /// for the other end.
  static std::size_t most_bytes(const transfer& t) noexcept {
    struct stat facts {};
    const bool has_reader =
        ::fstat(t.fd, &facts) == 0 && (S_ISFIFO(facts.st_mode) || ::isatty(t.fd) != 0);
    return t.to_write && has_reader ? PIPE_BUF : std::size_t{1} << 30;
  }

  detail::file_service& calls_;
};

[[noreturn]] void fail(const transfer& t, ssize_t code) {
  throw error(errc::system,
              detail::explain_failure(
                  fmt::format("cannot {} descriptor {}", t.to_write ? "write to" : "read", t.fd),
                  static_cast<int>(-code)));
}

task<std::size_t> move(context& ctx, transfer t) {
  if (t.size == 0) co_return 0;
  const task_environment& here = co_await current_environment();
  const ready_request ready = t.to_write ? writable(ctx, t.fd) : readable(ctx, t.fd);
  const transfer_request by_service{&detail::core_of(ctx).engine().files(), t};
  for (;;) {
    if (here.stop.stop_requested())
      throw error(errc::stopped, fmt::format("descriptor {}: stopped on request", t.fd));
    ssize_t n = try_now(t);
    if (n == needs_service) {
      co_await ready;
      n = co_await by_service;
    } else if (n == would_block) {
      co_await ready;
    }
    if (n >= 0) co_return static_cast<std::size_t>(n);
    if (n != would_block && n != -EINTR) fail(t, n);
  }
}

}  // namespace

task<std::size_t> read_some(context& ctx, int fd, mutable_buffer into) {
  return move(ctx, {fd, false, into.data(), into.size()});
}

task<std::size_t> write_some(context& ctx, int fd, const_buffer data) {
  return move(ctx, {fd, true, const_cast<std::byte*>(data.data()), data.size()});
}

task<void> write_all(context& ctx, int fd, const_buffer data) {
  while (!data.empty()) {
    const std::size_t n = co_await write_some(ctx, fd, data);
    data = data.subspan(n);
  }
}

task<void> read_exactly(context& ctx, int fd, mutable_buffer into) {
  const std::size_t wanted = into.size();
  while (!into.empty()) {
    const std::size_t n = co_await read_some(ctx, fd, into);
    if (n == 0)
      throw error(errc::truncated, fmt::format("descriptor {} ended after {} of {} bytes", fd,
                                               wanted - into.size(), wanted));
    into = into.subspan(n);
  }
}

line_reader::line_reader(context& ctx, int fd, std::size_t longest)
    : ctx_(&ctx), fd_(fd), longest_(longest) {}

task<std::optional<std::string>> line_reader::next() {
  constexpr std::size_t piece = std::size_t{64} << 10;
  for (;;) {
    const std::size_t end = ahead_.find('\n', searched_);
    const std::size_t size = std::min(end, ahead_.size()) - taken_;
    if (size > longest_)
      throw error(errc::truncated, fmt::format("descriptor {} has a line of more than {} bytes; "
                                               "allow longer ones in line_reader's constructor",
                                               fd_, longest_));
    if (end != std::string::npos || (ended_ && size != 0)) {
      std::string line = ahead_.substr(taken_, size);
      taken_ = searched_ = taken_ + size + (end != std::string::npos ? 1 : 0);
      co_return line;
    }
    if (ended_) co_return std::nullopt;
    ahead_.erase(0, taken_);
    taken_ = 0;
    searched_ = ahead_.size();
    std::string more(piece, '\0');
    const std::size_t n = co_await read_some(*ctx_, fd_, std::as_writable_bytes(std::span(more)));
    ahead_.append(more, 0, n);
    ended_ = n == 0;
  }
}

}  // namespace weft
