// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace weft::run {

namespace {
// A line longer than this is cut into several.
constexpr std::size_t longest_line = std::size_t{1} << 20;
}  // namespace

sink::sink(asio::io_context& io, int fd, std::function<void()> drained,
           std::function<void(int)> lost)
    : fd_(fd), watch_(io), drained_(std::move(drained)), lost_(std::move(lost)) {
  coloured_ = ::isatty(fd) == 1 && std::getenv("NO_COLOR") == nullptr;
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) return;
  asio::error_code fault;
  watch_.assign(copy, fault);
  if (fault) ::close(copy);
}

void sink::write(std::string_view text) {
  if (broken_ || dropping_) return;
  pending_ += text;
  if (!waiting_) flush();
}

void sink::flush() {
  if (!watch_.is_open()) {
    while (!pending_.empty() && write_some()) {
    }
    if (drained_) drained_();
    return;
  }
  if (pending_.empty() || waiting_) return;
  waiting_ = true;
  watch_.async_wait(asio::posix::descriptor_base::wait_write, [this](const asio::error_code& e) {
    waiting_ = false;
    if (e) {
      // A file or similar, which is always ready.
      asio::error_code ignored;
      watch_.close(ignored);
    } else {
      write_some();
    }
    if (!pending_.empty()) return flush();
    if (drained_) drained_();
  });
}

bool sink::write_some() {
  // A ready pipe takes this much without blocking, and in one piece.
  const std::size_t n = std::min(pending_.size() - done_, std::size_t{PIPE_BUF});
  const ssize_t written = ::write(fd_, pending_.data() + done_, n);
  if (written < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (written < 0) {
    const int fault = errno;
    pending_.clear();
    done_ = 0;
    if (fault == EPIPE) {
      // The reader of weft-run's output has gone: close the pipes, so that the ranks get SIGPIPE.
      broken_ = true;
    } else if (!std::exchange(dropping_, true) && lost_) {
      lost_(fault);
    }
    return false;
  }
  done_ += static_cast<std::size_t>(written);
  if (done_ == pending_.size()) {
    pending_.clear();
    done_ = 0;
  } else if (done_ > most_pending) {
    pending_.erase(0, done_);
    done_ = 0;
  }
  return true;
}

line_reader::line_reader(asio::io_context& io, unique_fd from, sink& to, std::string label,
                         std::function<void()> closed)
    : from_(io, from.release()), to_(to), label_(std::move(label)), closed_(std::move(closed)) {
  from_.non_blocking(true);
}

void line_reader::start() { wait(); }

void line_reader::wait() {
  if (waiting_ || !from_.is_open()) return;
  waiting_ = true;
  from_.async_wait(asio::posix::descriptor_base::wait_read,
                   [self = shared_from_this()](const asio::error_code& fault) {
                     self->waiting_ = false;
                     if (fault) return;
                     bool more = false;
                     if (!self->take(more)) return self->end();
                     self->resting_ = self->to_.full();
                     if (!self->resting_) self->wait();
                   });
}

void line_reader::resume() {
  if (!std::exchange(resting_, false)) return;
  wait();
}

bool line_reader::take(bool& more) {
  std::array<char, 64 << 10> buffer;
  const ssize_t n = ::read(from_.native_handle(), buffer.data(), buffer.size());
  more = n > 0;
  if (n == 0) return false;
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  partial_.append(buffer.data(), static_cast<std::size_t>(n));
  emit(false);
  return !to_.broken();
}

void line_reader::emit(bool at_end) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t end; (end = partial_.find('\n', begin)) != partial_.npos; begin = end + 1)
    out.append(label_).append(partial_, begin, end + 1 - begin);
  partial_.erase(0, begin);
  if (!partial_.empty() && (at_end || partial_.size() > longest_line)) {
    out.append(label_).append(partial_).push_back('\n');
    partial_.clear();
  }
  if (!out.empty()) to_.write(out);
}

void line_reader::finish() {
  if (!from_.is_open()) return;
  bool more = true;
  while (more && take(more)) {
  }
  end();
}

void line_reader::end() {
  if (!from_.is_open()) return;
  emit(true);
  asio::error_code ignored;
  from_.close(ignored);
  closed_();
}

std::string make_label(unsigned rank, bool coloured) {
  if (!coloured) return fmt::format("[{}] ", rank);
  constexpr std::array<int, 6> colours{32, 33, 34, 35, 36, 31};
  return fmt::format("\033[{}m[{}]\033[0m ", colours[rank % colours.size()], rank);
}

}  // namespace weft::run
