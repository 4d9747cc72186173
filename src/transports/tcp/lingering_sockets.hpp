// SPDX-License-Identifier: Apache-2.0
// Bytes that links had taken and not written when they ended.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <span>

#include "runtime/descriptors/close_on_fork.hpp"
#include "runtime/descriptors/fd.hpp"

namespace weft::transports::tcp {

/// Goes on writing the bytes that ended links left behind, each for a limited time, without ever
/// waiting: a peer that reads nothing blocks no other. Owned by the transport; progress lock held
/// only.
class lingering_sockets {
 public:
  using clock = std::chrono::steady_clock;

  static constexpr std::size_t most = 64;  ///< links; beyond it the oldest one's bytes are lost

  explicit lingering_sockets(std::chrono::milliseconds time_for_each) noexcept
      : time_for_each_(time_for_each) {}

  /// \param fd of the connection, which stays open until the bytes have left, or their time is over
  void add(int fd, std::span<const std::byte> bytes) noexcept;
  bool empty() const noexcept { return all_.empty(); }
  /// Writes as much as the sockets take. \return events
  unsigned move() noexcept;
  /// Waits until all have left or their time is over: for the end, when no thread polls any more.
  void finish() noexcept;

 private:
  struct rest {
    unique_fd fd;
    std::unique_ptr<runtime::close_on_fork> fork_guard;
    std::unique_ptr<std::byte[]> bytes;
    std::size_t begin = 0, end = 0;
    clock::time_point until;
    bool move() noexcept;  // \return whether it is over
  };
  const std::chrono::milliseconds time_for_each_;
  std::list<rest> all_;
};

}  // namespace weft::transports::tcp
