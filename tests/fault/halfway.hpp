// SPDX-License-Identifier: Apache-2.0
// Shared by the test of copies that are cut off and its program.
#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <thread>

#include <weft/message.hpp>

namespace fault::halfway {

/// Large enough that a process can be killed in the middle of the message.
inline constexpr std::size_t size = std::size_t{64} << 20;
inline constexpr std::byte content{0xaa};
inline constexpr weft::tag the_message{1};

/// Waits until the message has begun to fill that memory, which did not contain its first byte
/// before.
inline void wait_for_first_byte(std::span<const std::byte> into, std::stop_token stop) {
  const volatile std::byte& first = into.front();
  while (first != content && !stop.stop_requested()) std::this_thread::yield();
}

}  // namespace fault::halfway
