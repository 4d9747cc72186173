// SPDX-License-Identifier: Apache-2.0
// The process at the other end of a link that is being made.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "transports/wireup_message.hpp"

namespace weft::transports {

/// HMAC-SHA256 by a secret that two processes share.
using signature = std::array<std::byte, 32>;

/// Who is at the other end, as the connection manager found out.
struct counterpart {
  pid_t pid = 0;                             ///< from the kernel, not from the peer
  std::function<void(wireup_message)> tell;  ///< sends a `note` to the counterpart's transport
  std::uint32_t link = 0;                    ///< which of the links to it, below traits::links
  /// Numeric addresses of where it is, as far as this process was told by others than this offer;
  /// none: on this host. What it offers to be reached at is compared with them.
  std::vector<std::string> hosts = {};
  /// Authenticates bytes to it, and to nobody else. Whoever comes another way shows by this that it
  /// is that peer. Does not throw; any thread.
  std::function<signature(std::span<const std::byte> bytes)> sign = {};
};

}  // namespace weft::transports
