// SPDX-License-Identifier: Apache-2.0
// What travels over a control connection: one packet is one frame. docs/wire-format.md has the
// byte tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/fd.hpp"
#include "transports/wireup_message.hpp"

namespace weft::wireup {

/// What a frame is. Numbers are part of the wire format: never reuse one.
enum class frame_kind : std::uint8_t {
  hello = 1,           ///< the first frame of whoever connects: who it is and what it wants
  welcome = 2,         ///< the answer: come in, and this is who I am
  refusal = 3,         ///< the other answer, with the reason
  wireup_message = 4,  ///< a wire-up message of the layer above; `detail` is its kind
  bye = 5,             ///< last frame of a connection that ends in good order
  invitation = 6,      ///< before all others, of whoever was connected to: its key
  job_hello = 16,      ///< a rank to its launcher
  job_welcome = 17,    ///< the launcher's answer: how many ranks there are
  job_publish = 18,    ///< a rank says where it listens
  job_find = 19,       ///< a rank asks where another listens
  job_found = 20,      ///< the launcher answers that
  job_ended = 21       ///< the launcher tells that a rank ended
};

inline constexpr std::size_t max_frame_body = transports::wireup_message::max_bytes;

/// A frame in memory. Move-only.
struct frame {
  frame_kind kind{};
  std::uint8_t detail = 0;
  std::vector<std::byte> body;
  std::vector<runtime::unique_fd> fds;
};

/// The eight bytes in front of each body.
struct frame_header {
  static constexpr std::size_t size = 8;
  static_assert(max_frame_body < (std::size_t{1} << 32));

  static std::array<std::byte, size> of(const frame& f);

  /// Takes a received packet apart; copies the body only after every field was checked. Empty when
  /// the packet is not a frame: wrong lengths, wrong count of descriptors.
  static std::optional<frame> parse(std::span<const std::byte> bytes,
                                    std::vector<runtime::unique_fd> fds);
};

}  // namespace weft::wireup
