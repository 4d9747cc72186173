// SPDX-License-Identifier: Apache-2.0
// What is between two nodes: nothing of it leaves the process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "transports/transport.hpp"

namespace weft::transports::fake {

using node = std::uint32_t;             ///< who; chosen by the test
using time = std::chrono::nanoseconds;  ///< since the world began

/// What links do with a read of the peer's memory.
enum class memory { hidden, readable, refused_late };  ///< refused_late: promised, then failing

/// How one transport treats its frames.
struct manner {
  std::string_view name = "fake";  ///< of a string that outlives the world
  time shortest_way{1'000};        ///< of a frame; each takes its own time, in order per link
  time longest_way{50'000};
  std::size_t room = 32;  ///< frames that one link takes before it is busy
  std::size_t frames_per_poll = std::numeric_limits<std::size_t>::max();  ///< of one link
  std::uint32_t max_payload = 4096;
  std::uint32_t fragment = 2048;
  fake::memory memory = memory::hidden;
  bool holds = false;   ///< send_large leaves the bytes where they are until the sender's next turn
  bool places = false;  ///< payloads go where the receiver says, a piece in each turn
};

/// One direction between two nodes. Owned by the sender's link and the receiver's transport.
struct wire {
  struct frame {
    time due;
    frame_header header;
    bool extended = false;
    frame_extension extension;
    std::vector<std::byte> payload;  // exactly as long, so that a sanitizer sees a read beyond it
  };

  node from = 0;
  node to = 0;
  manner how;
  inlet* sender = nullptr;
  inlet* receiver = nullptr;  // null: not accepted, or forgotten
  std::deque<frame> frames;
  std::optional<gather> held;  // where the payload of the last frame still is
  std::uint32_t placed = 0;    // bytes of the first frame that lie where the receiver said
  bool placing = false;
  std::uint64_t sent = 0;  // frames so far
  bool refused = false;    // a frame found no room
  bool withdrawn = false;  // the sender's memory cannot be read any more
  bool broken = false;     // one of the two nodes is dead, or the connection between them

  void let_go() noexcept;  ///< copies what is held
  void drop_frames() noexcept;
};

/// Fills `into` from `data`, which moves on.
void take(gather& data, std::vector<std::byte>& into) noexcept;

/// What a world's watcher is told of.
enum class happening { posted, refused, delivered };

}  // namespace weft::transports::fake
