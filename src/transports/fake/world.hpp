// SPDX-License-Identifier: Apache-2.0
// The world of the fake transports: the only source of time, random numbers and node deaths.
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

#include "runtime/os/clock.hpp"
#include "runtime/progress/engine.hpp"
#include "transports/fake/wire.hpp"

namespace weft::transports::fake {

class fake_transport;

/// The default manner of all transports, and the world's own settings; a transport may be given a
/// manner of its own.
struct settings : manner {
  std::uint64_t seed = 1;
  time turn{0};  ///< duration of a turn in which something happened

  /// Frames travel by the machine's clock and the nodes are contexts that make progress on threads
  /// of their own. No two runs are equal then, and the world's own `step`, `at`, `kill`, `stall`
  /// and `cut` must not be used in such a world.
  bool real_time = false;
};

/// A few nodes in one process and the network between them. Equal seeds and equal calls give equal
/// histories. It is the clock of its nodes' engines. One thread, unless it runs in real time; owned
/// by the test and outlives all objects in it.
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

  /// `elapsed` as a time point, for timers.
  runtime::time_point now() const noexcept override { return runtime::time_point(elapsed_); }

  /// A number below `bound`, which is not 0.
  std::uint64_t chance(std::uint64_t bound) { return random_() % bound; }

  /// Calls `what` at that moment, between the nodes' turns: for connecting, killing, stalling.
  void at(time when, std::function<void()> what);

  /// Runs the due events, then gives every living node that is not stalled a turn, in random order;
  /// if nothing happened, time goes on to the next event, frame or timer.
  /// \return false: nothing happened, and nothing is going to
  bool step();

  /// Steps until nothing happens any more. \return how many steps
  std::size_t run_until_quiet();

  /// The node has no turn any more.
  /// \param told true: frames to and from the node vanish, and its peers see
  ///   on_broken(errc::peer_lost) at their next turn; false: frames under way arrive, and the peers
  ///   are not told
  void kill(node n, bool told = true);
  bool alive(node n) const noexcept;

  /// The node has no turn until that moment, like a process whose core is taken by another.
  void stall(node n, time until);

  /// Frames between the two vanish, and both see on_broken(errc::peer_lost) at their next turn.
  /// \param which only connections by transports with a manner of that name; empty: all
  void cut(node a, node b, std::string_view which = {});

  /// One end gives a connection up, and the other is not told: `end` sees
  /// on_broken(errc::peer_lost) at its next turn and can send no more; frames to it vanish, until
  /// the link is full of them. Frames that `end` has sent arrive.
  /// \param which as above
  void give_up(node end, node other, std::string_view which = {});

  /// The time since which the node could have had turns.
  time awake_since(node n) const noexcept;

  /// Pieces of memory of living nodes that others may read or write.
  std::size_t shown() const noexcept;

  /// Called for each event on the wires. Set before anything is sent.
  std::function<void(happening, const wire&, const wire::frame&)> watch;

  /// Called after each turn of a node.
  std::function<void(node)> turned;

  /// Asked about memory that a receiver names for a payload. False: the receiver had no right to
  /// name it, and nothing is written.
  std::function<bool(const wire&, const_buffer)> may_place;

  /// Called with each frame after it was put on its wire, as the last of `wire::frames`. May change
  /// the frames: for tests that inject a fault.
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
  using event_key = std::pair<time, std::uint64_t>;  // in order of time, then of the calls

  void enter(node n, runtime::engine& e, fake_transport& t);
  void leave(node n, fake_transport& t) noexcept;
  void wake(node n) noexcept;
  /// Held by a thread that touches a wire, besides the progress lock of its own engine, where
  /// several threads do.
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

  // Reads and writes of the other side's memory (transfers.cpp).
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
