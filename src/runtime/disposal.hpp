// SPDX-License-Identifier: Apache-2.0
// Releases descriptors and memory that peers have sent.
#pragma once

#include <cstddef>
#include <memory>

namespace weft::runtime {

/// Closes descriptors and unmaps memory that came from peers, on threads of its own where it may
/// take long: the last close of a socket that lingers, or of a file of a file system in user space,
/// blocks for as long as its sender likes, and unmapping takes time in proportion to the size. A
/// thread exists only while there is work for it. Each receiver of descriptors has one such object
/// and passes it to the descriptors (unique_fd), which pass it to their mappings (mapping). Any
/// thread.
class disposal {
 public:
  /// How many threads may be blocked at a time; further work waits until one has ended.
  static constexpr unsigned most_threads = 4;

  disposal();
  /// Waits a moment for work under way. Blocked work goes on by itself.
  ~disposal();
  disposal(const disposal&) = delete;
  disposal& operator=(const disposal&) = delete;

  /// Done at once if that cannot block, else on a thread. Never blocks.
  void close(int fd) noexcept;
  void unmap(void* at, std::size_t size) noexcept;

 private:
  struct work;
  struct state;
  void add(const work& w) noexcept;

  std::shared_ptr<state> state_;
};

}  // namespace weft::runtime
