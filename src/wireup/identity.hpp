// SPDX-License-Identifier: Apache-2.0
// The identity of a context, apart from its location.
#pragma once

#include <sys/types.h>

#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include <weft/message.hpp>

namespace weft::wireup {

/// 128 bits that name a context while it lives: a hash of its public key. Never reused.
struct context_id {
  std::array<std::uint64_t, 2> words{};
  // clang-tidy takes the zero that the compiler compares with for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const context_id&, const context_id&) = default;
};

/// What a context tells another about itself.
struct identity {
  context_id id;
  pid_t pid = 0;   ///< as the kernel reports it for the socket, not as the peer claims; 0: unknown
  context_id job;  ///< zero: none
  peer_id rank = no_peer;  ///< its rank in that job, if any
  std::string locator;     ///< where its connection manager listens, as locator.hpp writes it
};

}  // namespace weft::wireup
