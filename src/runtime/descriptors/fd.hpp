// SPDX-License-Identifier: Apache-2.0
// A file descriptor with one owner.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include <weft/error.hpp>

#include "runtime/descriptors/disposal.hpp"

namespace weft::runtime {

/// Closes its descriptor on destruction. Move-only; -1 means none.
class unique_fd {
 public:
  unique_fd() = default;
  explicit unique_fd(int fd) noexcept : fd_(fd) {}
  /// A descriptor that a peer sent: closing it might block.
  /// \param where closes it; null: this object does
  unique_fd(int fd, std::shared_ptr<disposal> where) noexcept
      : fd_(fd), disposal_(std::move(where)) {}
  unique_fd(unique_fd&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), disposal_(std::move(other.disposal_)) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(disposal_, other.disposal_);
    return *this;
  }
  ~unique_fd() {
    if (fd_ < 0) return;
    if (disposal_)
      disposal_->close(fd_);
    else
      ::close(fd_);
  }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }

  /// The object that closes it, if a peer sent it; else null.
  const std::shared_ptr<disposal>& ends_in() const noexcept { return disposal_; }

 private:
  int fd_ = -1;
  std::shared_ptr<disposal> disposal_;
};

/// Another number for the same open file, close-on-exec.
/// \throws weft::error (system) when there is none left
inline unique_fd duplicate(int fd, std::shared_ptr<disposal> where = {}) {
  unique_fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0), std::move(where));
  if (!copy) throw error(errc::system, "no more file descriptors; raise `ulimit -n`");
  return copy;
}
/// It ends where the other one does.
inline unique_fd duplicate(const unique_fd& fd) { return duplicate(fd.get(), fd.ends_in()); }

}  // namespace weft::runtime
