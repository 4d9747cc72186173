// SPDX-License-Identifier: Apache-2.0
// The state between two nodes; all of it stays in the process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <weft/transport/transport.hpp>

namespace weft::transports::fake {

using node = std::uint32_t;             ///< number of a node; chosen by the test
using time = std::chrono::nanoseconds;  ///< since the world began

/// Whether links read and write the peer's memory.
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
  std::uint32_t announced_beyond = 0;
  fake::memory memory = memory::hidden;
  bool holds = false;     ///< send_large leaves the bytes with the sender until its next turn
  bool places = false;    ///< payloads are written to the receiver's place, a piece in each turn
  unsigned placed = 100;  ///< percent of the frames for which the receiver is asked for a place

  bool later = false;  ///< `get` and `put` take as long as a frame, half of the bytes at half-time
  std::size_t transfers = 4;    ///< transfers that a link has under way, then it is busy
  unsigned failing = 0;         ///< percent of the transfers that fail in the middle
  bool prefers_put = false;     ///< rather than `get` and frames
  bool measures = false;        ///< whether `get` or frames are better is to be measured
  bool fails_in_order = false;  ///< a `put` that fails cuts the connection
  bool views = false;           ///< shares memory: `view` reads what the peer exposes in place
  bool chains = false;          ///< frames can be chained to `get` and `put`, and are by default
};

/// One direction between two nodes. Owned by the sender's link and the receiver's transport.
struct wire {
  struct frame {
    time due;
    frame_header header;
    bool extended = false;
    frame_extension extension;
    std::vector<std::byte> payload;  // exactly as long, so that a sanitizer sees a read beyond it
    std::uint64_t number = 0;        // on its wire
    std::optional<std::uint32_t> stops_after;  // bytes of it that arrive; no frame follows
  };

  /// A `get` or `put` under way.
  struct transfer {
    bool put = false;
    time half{0};
    time due{0};
    remote_address at;  // the receiver's
    scatter into;       // of a get: the sender's memory
    gather data;        // of a put: the sender's memory
    std::size_t size = 0;
    std::size_t moved = 0;
    std::uint64_t cookie = 0;
    bool fails = false;            // in the middle
    bool over = false;             // no more bytes are to be moved
    std::optional<frame> chained;  // leaves when all of it was moved; without payload
  };

  /// Memory of the sender that the receiver may read, or write.
  struct place {
    std::byte* at;
    std::size_t size;
    bool writable;
  };

  node from = 0;
  node to = 0;
  manner how;
  frame_sink* sender = nullptr;
  frame_sink* receiver = nullptr;  // null: not accepted, or forgotten
  std::deque<frame> frames;
  std::optional<gather> held;  // the payload of the last frame, still in the sender's memory
  std::uint32_t placed = 0;    // bytes of the first frame that were written to the receiver's place
  bool placing = false;
  bool stuck = false;              // nothing more of the first frame comes
  std::uint64_t sent = 0;          // frames so far
  std::deque<transfer> transfers;  // begun by the sender, in the order of their ends
  std::uint64_t transferred = 0;   // so far
  time last_put{0};                // frames that are sent later arrive after this moment
  std::map<std::uint16_t, place> shown;
  bool refused = false;      // a frame or a transfer found no room
  bool broken = false;       // one of the two nodes is dead, or the connection between them
  bool deaf = false;         // the receiver takes no more frames, and the sender was not told
  std::size_t vanished = 0;  // number of frames dropped since then

  void let_go() noexcept;  ///< copies the held payload
  void drop_frames() noexcept;
};

/// Fills `into` from `data`, which moves on.
void take(gather& data, std::vector<std::byte>& into) noexcept;

/// The events that a world's watcher is called for.
enum class happening { posted, refused, delivered };

}  // namespace weft::transports::fake
