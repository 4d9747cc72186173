// SPDX-License-Identifier: Apache-2.0
// Releases descriptors and memory that peers have sent.
#pragma once

#include <cstddef>
#include <memory>

namespace weft::runtime {

/// Closes descriptors and unmaps memory that came from others, on threads of its own where it may
/// take long: the last close of a socket that lingers, or of a file of a file system in user space,
/// blocks for as long as its sender likes, and unmapping takes time in proportion to the size. A
/// thread exists only while there is work for it. Each receiver of descriptors has one such object
/// and passes it to the descriptors (unique_fd), which pass it to their mappings (mapping). Any
/// thread.
class disposal {
 public:
  /// How many threads may be blocked at a time; further descriptors wait until one has ended.
  static constexpr unsigned most_threads = 4;
  /// So many descriptors may wait before `is_saturated`.
  static constexpr std::size_t most_waiting = 64;

  disposal();
  /// Waits a moment for work under way. Blocked work goes on by itself.
  ~disposal();
  disposal(const disposal&) = delete;
  disposal& operator=(const disposal&) = delete;

  /// Done at once if that cannot block, else on a thread. Never blocks.
  void close(int fd) noexcept;
  /// Closes this process's end of a Unix connection; at once if the other side has left no
  /// descriptor in it, else on a thread. \param socket has no other holder
  void hang_up(int socket) noexcept;
  /// Shuts this process's end of a Unix connection down. \return whether it can be closed at once
  static bool shut_down(int socket) noexcept;
  /// Closes a Unix socket that listens, with the clients that it has not accepted. At once, so that
  /// the name is free, unless descriptors have run out.
  void stop_listening(int socket) noexcept;
  void unmap(void* at, std::size_t size) noexcept;

  /// Work waits for blocked threads, or for one that can be started, which is tried again: its
  /// owner should take no more descriptors for now, and ask again later.
  bool is_saturated() noexcept;

 private:
  struct work;
  struct line;
  struct state;
  void add(line& to, const work& w) noexcept;
  void start_thread(line& of);

  std::shared_ptr<state> state_;
};

}  // namespace weft::runtime
