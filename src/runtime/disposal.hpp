// SPDX-License-Identifier: Apache-2.0
// Where what peers have handed over ends.
#pragma once

#include <cstddef>
#include <memory>

namespace weft::runtime {

/// Closes descriptors and unmaps memory that came from peers, on threads of its own where it may
/// take long: the last close of a socket that lingers, or of a file of a file system in user space,
/// blocks for as long as its sender likes, and giving memory back takes as long as there is of it.
/// There is a thread only while there is something for it. Each receiver of descriptors has one of
/// these and gives it to them (unique_fd), and they to what is mapped of them (mapping). Any
/// thread.
class disposal {
 public:
  /// How many may be blocked at a time; what comes then waits until one has ended.
  static constexpr unsigned most_threads = 4;

  disposal();
  /// Waits for a moment for what is under way. What is blocked goes on by itself.
  ~disposal();
  disposal(const disposal&) = delete;
  disposal& operator=(const disposal&) = delete;

  /// At once if that cannot block, else elsewhere. Never blocks.
  void close(int fd) noexcept;
  void unmap(void* at, std::size_t size) noexcept;

 private:
  struct work;
  struct state;
  void add(const work& w) noexcept;

  std::shared_ptr<state> state_;
};

}  // namespace weft::runtime
