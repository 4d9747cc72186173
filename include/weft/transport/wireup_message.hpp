// SPDX-License-Identifier: Apache-2.0
// What two processes send each other before (and beside) a link: bytes and file descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/transport/unique_fd.hpp>

namespace weft::transports {

/// Bytes and descriptors that travel together over a channel of the connection manager. Move-only.
/// Everything in a received wire-up message is the peer's word: check it before use.
struct wireup_message {
  static constexpr std::size_t max_bytes = 16 * 1024;
  static constexpr std::size_t max_fds = 8;

  std::uint8_t kind = 0;  ///< which message it is; the layer above the channel gives it meaning
  std::vector<std::byte> bytes;
  std::vector<unique_fd> fds;
};

}  // namespace weft::transports
