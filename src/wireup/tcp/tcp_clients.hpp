// SPDX-License-Identifier: Apache-2.0
// TCP clients in the handshake.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "runtime/descriptors/fd.hpp"
#include "wireup/tcp/tcp_answering.hpp"

namespace weft::wireup {

/// At most so many at once: when another comes, one that has shown least goes. A member of the job
/// that has to go tries again. On the loop's thread.
class tcp_clients {
 public:
  static constexpr std::size_t usual = 64;

  explicit tcp_clients(std::size_t most = usual) : most_(most) {}

  /// \throws std::bad_alloc
  void start(loop& on, unique_fd client, tcp_answering::terms terms);
  void close_all();

 private:
  const std::size_t most_;
  std::deque<std::weak_ptr<tcp_answering>> all_;  // oldest first; they keep themselves alive
};

}  // namespace weft::wireup
