// SPDX-License-Identifier: Apache-2.0
#include "runtime/descriptors/close_on_fork.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <mutex>

namespace weft::runtime {

/// A fork concerns the whole process, and its handlers get no argument that names contexts: so the
/// descriptors to close are found by a global list. It is never destroyed, and knows no context.
struct closed_on_fork {
  std::mutex mutex;
  close_on_fork* first = nullptr;

  /// Runs in a child, which has no other thread: does only what a signal handler may do.
  void close_all() noexcept {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const close_on_fork* c = first; c; c = c->after_) {
      if (nothing >= 0)
        ::dup3(nothing, c->fd_, O_CLOEXEC);
      else
        ::close(c->fd_);
    }
    if (nothing >= 0) ::close(nothing);
  }
};

namespace {

constinit closed_on_fork marked;

/// The mutex is held during the fork, so that the child's copy of the list is consistent.
void close_in_children() noexcept {
  static const int done =
      ::pthread_atfork([] { marked.mutex.lock(); }, [] { marked.mutex.unlock(); },
                       [] {
                         marked.close_all();
                         marked.mutex.unlock();
                       });
  static_cast<void>(done);
}

}  // namespace

void close_on_fork::add(int fd) noexcept {
  if (fd < 0) return;
  close_in_children();
  const std::lock_guard lock(marked.mutex);
  fd_ = fd;
  after_ = marked.first;
  if (after_) after_->before_ = this;
  marked.first = this;
}

void close_on_fork::drop() noexcept {
  if (fd_ < 0) return;
  const std::lock_guard lock(marked.mutex);
  (before_ ? before_->after_ : marked.first) = after_;
  if (after_) after_->before_ = before_;
  before_ = after_ = nullptr;
  fd_ = -1;
}

}  // namespace weft::runtime
