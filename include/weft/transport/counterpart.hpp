// SPDX-License-Identifier: Apache-2.0
// The process at the other end of a link that is being made.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/transport/unique_fd.hpp>
#include <weft/transport/wireup_message.hpp>

namespace weft::transports {

/// HMAC-SHA256 by a secret that two processes share.
using signature = std::array<std::byte, 32>;

/// The process at the other end, as the connection manager found it out.
struct counterpart {
  pid_t pid = 0;                             ///< from the kernel, not from the peer
  std::function<void(wireup_message)> tell;  ///< sends a `note` to the counterpart's transport
  std::uint32_t link =
      0;  ///< number of this link among those to the counterpart, below traits::links
  /// Numeric addresses of its host, as this process knows them from other sources than this offer;
  /// none: it is on this host. The addresses in its offer are compared with them.
  std::vector<std::string> hosts = {};
  /// Signs bytes with the secret that only this process and the counterpart have. A process that
  /// connects by another path (a TCP socket) proves with it that it is the counterpart. Does not
  /// throw; any thread.
  std::function<signature(std::span<const std::byte> bytes)> sign = {};
  /// A pidfd, readable from the end of the process on: then `pid` may name another one. Null: it
  /// is not known.
  std::shared_ptr<const unique_fd> process = {};
};

}  // namespace weft::transports
