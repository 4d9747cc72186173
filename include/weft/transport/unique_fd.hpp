// SPDX-License-Identifier: Apache-2.0
// A file descriptor with one owner.
#pragma once

#include <memory>
#include <utility>

namespace weft {

namespace runtime {
class disposal;
}

/// Closes its descriptor on destruction. Move-only; -1 means none. A value: no thread safety of its
/// own.
/// \code
/// weft::unique_fd mine(::eventfd(0, EFD_CLOEXEC));
/// if (!mine) throw weft::error(weft::errc::system, "no descriptor is left");
/// \endcode
class unique_fd {
 public:
  unique_fd() = default;
  /// \param fd taken; negative: none
  explicit unique_fd(int fd) noexcept : fd_(fd) {}
  /// A descriptor that a peer sent: closing it might block. For weft's own use.
  /// \param fd    taken
  /// \param where closes it; null: this object does
  unique_fd(int fd, std::shared_ptr<runtime::disposal> where) noexcept
      : fd_(fd), disposal_(std::move(where)) {}
  unique_fd(unique_fd&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), disposal_(std::move(other.disposal_)) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(disposal_, other.disposal_);
    return *this;
  }
  ~unique_fd() {
    if (fd_ >= 0) close();
  }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  /// \return the descriptor, which is the caller's from now on
  int release() noexcept { return std::exchange(fd_, -1); }

  /// The object that closes it, if a peer sent it; else null.
  const std::shared_ptr<runtime::disposal>& ends_in() const noexcept { return disposal_; }

 private:
  void close() noexcept;

  int fd_ = -1;
  std::shared_ptr<runtime::disposal> disposal_;
};

}  // namespace weft
