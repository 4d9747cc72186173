// SPDX-License-Identifier: Apache-2.0
// Maps descriptors to their watchers, safe against events that arrive after a removal.
#pragma once

#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>
#include <weft/error.hpp>

#include "runtime/sleep/wait_set.hpp"

namespace weft::runtime {

/// One row per descriptor number. A row's key carries a generation that changes with each removal:
/// an event that the kernel had under way by then has an old key and finds no row. Used by one
/// thread at a time.
class watch_table {
 public:
  struct row {
    fd_watcher* watcher = nullptr;  ///< null: the descriptor is not in the set
    std::uint32_t events = 0;
    std::uint32_t generation = 0;
    bool armed = false;   ///< io_uring: the kernel holds a request for it
    bool queued = false;  ///< io_uring: it is in the list of descriptors to arm
  };

  /// The bits for events; the other bits change how events are triggered, and are not the caller's
  /// choice.
  static constexpr std::uint32_t event_mask =
      EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLERR | EPOLLHUP;

  row& insert(int fd, std::uint32_t events, fd_watcher& w) {
    if (::fcntl(fd, F_GETFD) < 0) {
      throw error(errc::system, "descriptor " + std::to_string(fd) +
                                    " cannot be watched: " + std::strerror(errno));
    }
    const auto at = static_cast<std::size_t>(fd);
    if (at >= rows_.size()) rows_.resize(at + at / 2 + 1);
    if (rows_[at].watcher) {
      throw error(errc::invalid_argument, "descriptor " + std::to_string(fd) +
                                              " is watched already; remove it before adding it");
    }
    rows_[at].watcher = &w;
    rows_[at].events = events & event_mask;
    return rows_[at];
  }

  void erase(int fd) noexcept {
    row& r = (*this)[fd];
    r.watcher = nullptr;
    ++r.generation;
  }

  bool contains(int fd) const noexcept {
    const auto at = static_cast<std::size_t>(fd);
    return fd >= 0 && at < rows_.size() && rows_[at].watcher;
  }

  row& operator[](int fd) noexcept { return rows_[static_cast<std::size_t>(fd)]; }

  /// The key, which travels through the kernel with a request.
  std::uint64_t key(int fd) noexcept {
    return std::uint64_t{(*this)[fd].generation} << 32 | static_cast<std::uint32_t>(fd);
  }

  static int fd_of(std::uint64_t key) noexcept { return static_cast<int>(key & 0xffff'ffffU); }

  /// The row, if it is still the row that the key was made for.
  row* find(std::uint64_t key) noexcept {
    const int fd = fd_of(key);
    if (!contains(fd) || (*this)[fd].generation != key >> 32) return nullptr;
    return &(*this)[fd];
  }

  std::size_t size() const noexcept { return rows_.size(); }

 private:
  std::vector<row> rows_;
};

}  // namespace weft::runtime
