// SPDX-License-Identifier: Apache-2.0
// Where fake transports live: the one source of time, chance and death.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/engine.hpp"
#include "transports/fake/wire.hpp"

namespace weft::transports::fake {

class fake_transport;

/// How a world treats everybody; a transport may be given a manner of its own.
struct settings : manner {
  std::uint64_t seed = 1;
  time turn{0};  ///< what a turn costs in which something happened

  /// Frames travel by the machine's clock and nodes turn themselves, each on threads of its own:
  /// contexts. Nothing is the same twice then, and the world's own `step`, `at`, `kill`, `stall`
  /// and `cut` are not for such a world.
  bool real_time = false;
};

/// A few nodes in one process and the network between them. Whoever has the same seed and does the
/// same sees the same. It is the clock of its nodes' engines. One thread, unless it goes by real
/// time; owned by the test and outlives everything that is in it.
class world final : public runtime::clock {
 public:
  explicit world(settings s);
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  const manner& default_manner() const noexcept { return settings_; }

  /// Since the world began.
  time elapsed() const noexcept {
    return settings_.real_time ? std::chrono::steady_clock::now() - began_ : elapsed_;
  }

  /// The same as a moment, for timers.
  runtime::time_point now() const noexcept override { return runtime::time_point(elapsed_); }

  /// A number below `bound`, which is not 0.
  std::uint64_t chance(std::uint64_t bound) { return random_() % bound; }

  /// Does something at that moment, between the nodes' turns: connecting, dying, stalling.
  void at(time when, std::function<void()> what);

  /// What is due is done, then every living node that is not stalled has a turn, in an order by
  /// chance; when nothing of that brought anything, time goes on to the next event, frame or timer.
  /// \return false: nothing happened, and nothing is going to
  bool step();

  /// Steps until nothing happens any more. \return how many steps
  std::size_t run_until_quiet();

  /// The node has no turn any more.
  /// \param told true: frames to and from it vanish, and its peers see on_broken(errc::peer_lost)
  ///        at their next turn; false: what is on its way arrives, and the wires tell nobody
  void kill(node n, bool told = true);
  bool alive(node n) const noexcept;

  /// The node has no turn until that moment, as one whose core is busy elsewhere.
  void stall(node n, time until);

  /// Frames between the two vanish, and both see on_broken(errc::peer_lost) at their next turn.
  /// \param which only what goes by transports with a manner of that name; empty: everything
  void cut(node a, node b, std::string_view which = {});

  /// One end gives a connection up, and the other is not told: `end` sees
  /// on_broken(errc::peer_lost) at its next turn and can send no more; what comes to it vanishes,
  /// until a link is full of it. What it has sent arrives.
  /// \param which as above
  void give_up(node end, node other, std::string_view which = {});

  /// Since when the node could have had turns.
  time awake_since(node n) const noexcept;

  /// Pieces of memory of living nodes that others may read or write.
  std::size_t shown() const noexcept;

  /// Told what happens on the wires. Set before anything is sent.
  std::function<void(happening, const wire&, const wire::frame&)> watch;

  /// Told of each turn that a node has had.
  std::function<void(node)> turned;

  /// Asked about memory that a receiver wants a payload in. False: it had no right to name that,
  /// and nothing is written.
  std::function<bool(const wire&, const_buffer)> may_place;

  /// Called with each frame when it has been put on its wire, the last of `wire::frames`. May
  /// change what is there: for tests that plant a fault.
  std::function<void(wire&)> tamper;

 private:
  friend class fake_transport;
  friend class fake_link;

  struct inhabitant {
    runtime::engine* engine = nullptr;
    std::vector<fake_transport*> transports;
    bool dead = false;
    time stalled_until{0};
    time awake_since{0};
  };
  using event_key = std::pair<time, std::uint64_t>;  // in order of time, then of asking

  void enter(node n, runtime::engine& e, fake_transport& t);
  void leave(node n, fake_transport& t) noexcept;
  void wake(node n) noexcept;
  /// Held by whoever touches a wire, besides the progress lock of its own engine, where several
  /// threads do.
  std::unique_lock<std::recursive_mutex> lock() const {
    return settings_.real_time ? std::unique_lock(mutex_)
                               : std::unique_lock<std::recursive_mutex>();
  }
  bool do_what_is_due();
  bool turn_everybody();
  std::optional<time> next_moment() const noexcept;
  void tell(happening what, const wire& w, const wire::frame& f) const {
    if (watch) watch(what, w, f);
  }
  std::uint64_t chance_of(const wire& w, std::uint64_t number) const noexcept;
  time way(const wire& w, std::uint64_t number) const noexcept;
  time arrival(wire& w) const noexcept;

  // What one side reads or writes of the other's memory (transfers.cpp).
  void set_out(wire& w, wire::transfer& t) const noexcept;
  const wire::place* find(const wire& w, const wire::transfer& t) const noexcept;
  bool move(wire& w, wire::transfer& t, std::size_t upto) const noexcept;
  void end(wire& w, wire::transfer& t) const noexcept;
  void land(wire& w, time until) const noexcept;

  std::uint64_t offer(std::shared_ptr<wire> w);
  std::shared_ptr<wire> take_offer(std::uint64_t number);

  const settings settings_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  mutable std::recursive_mutex mutex_;  // a frame's receiver may answer at once
  std::mt19937_64 random_;
  time elapsed_{0};
  std::map<node, inhabitant> nodes_;
  std::map<event_key, std::function<void()>> events_;
  std::uint64_t last_event_ = 0;
  std::map<std::uint64_t, std::shared_ptr<wire>> offers_;
  std::uint64_t last_offer_ = 0;
};

}  // namespace weft::transports::fake
