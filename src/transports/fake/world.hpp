// SPDX-License-Identifier: Apache-2.0
// Where fake transports live: the one source of time, chance and death.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>

#include "runtime/engine.hpp"
#include "transports/transport.hpp"

namespace weft::transports::fake {

class fake_transport;
struct wire;

using node = std::uint32_t;             ///< who; chosen by the test
using time = std::chrono::nanoseconds;  ///< since the world began

/// What links do with a read of the peer's memory.
enum class memory { hidden, readable, refused_late };  ///< refused_late: promised, then failing

/// How a world treats its frames.
struct settings {
  std::uint64_t seed = 1;
  time shortest_way{1'000};  ///< of a frame; each takes its own time, in order per link
  time longest_way{50'000};
  std::size_t room = 32;  ///< frames that one link takes before it is busy
  std::uint32_t max_payload = 4096;
  std::uint32_t fragment = 2048;
  fake::memory memory = memory::hidden;
};

/// A few nodes in one process and the network between them. Whoever has the same seed and does the
/// same sees the same. One thread; owned by the test and outlives everything that is in it.
class world {
 public:
  explicit world(settings s);
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  time now() const noexcept { return now_; }

  /// A number below `bound`, which is not 0.
  std::uint64_t chance(std::uint64_t bound) { return random_() % bound; }

  /// Every living node has a turn, in an order by chance; when that brought nothing, time goes on
  /// to the next frame.
  /// \return false: nothing happened and nothing is on its way
  bool step();

  /// Steps until nothing happens any more. \return how many steps
  std::size_t run_until_quiet();

  /// The node has no turn any more, frames to and from it are dropped, and its peers see
  /// on_broken(errc::peer_lost) at their next turn.
  void kill(node n);
  bool alive(node n) const noexcept { return transports_.contains(n) && !dead(n); }

 private:
  friend class fake_transport;
  friend class fake_link;

  void enter(node n, fake_transport& t);
  void leave(node n) noexcept;
  bool dead(node n) const noexcept;
  bool turn_everybody();
  std::optional<time> next_frame() const noexcept;
  time arrival();
  std::uint64_t offer(std::shared_ptr<wire> w);
  std::shared_ptr<wire> take_offer(std::uint64_t number);

  const settings settings_;
  const transports::traits traits_;
  std::mt19937_64 random_;
  time now_{0};
  std::map<node, fake_transport*> transports_;
  std::map<std::uint64_t, std::shared_ptr<wire>> offers_;
  std::uint64_t last_offer_ = 0;
};

}  // namespace weft::transports::fake
