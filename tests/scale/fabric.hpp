// SPDX-License-Identifier: Apache-2.0
// Virtual time: the frames that are under way, the ports that they pass, and the ranks' clocks.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <vector>

#include <weft/transport/frame_sink.hpp>

#include "runtime/os/clock.hpp"
#include "scale/network.hpp"

namespace scale {

namespace transports = weft::transports;

/// What travels: a frame, or the bytes of a `get`.
struct delivery {
  peer_id from = 0;
  peer_id to = 0;
  level across = level::core;
  transports::frame_sink* sink = nullptr;  ///< at `to`
  std::size_t size = 0;                    ///< bytes that the ports see

  // A frame.
  transports::frame_header header;
  transports::frame_extension extension;
  std::vector<std::byte> payload;

  // A get. The memory of the sender stays as it is until the receiver's answer.
  bool is_get = false;
  const std::byte* source = nullptr;
  transports::scatter into;
  std::uint64_t cookie = 0;
};

/// What a rank has sent.
struct traffic {
  std::uint64_t frames = 0;   ///< and gets
  std::uint64_t bytes = 0;    ///< with headers
  std::uint64_t leaving = 0;  ///< of these, to other hosts
};

/// A discrete-event simulation of the network. A rank's clock runs while the rank works: `overhead`
/// for each frame that it sends or takes, and what `compute` says. A frame leaves when its sender's
/// clock has come there and the port is free; it is taken when it has arrived and its receiver has
/// no earlier work. Equal calls give equal histories. One thread.
class fabric final : public weft::runtime::clock {
 public:
  fabric(const network& net, peer_id ranks);
  ~fabric();
  fabric(const fabric&) = delete;
  fabric& operator=(const fabric&) = delete;

  /// \param f all but `across` and `size` is set
  void send(std::unique_ptr<delivery> f);
  /// \param g `from` owns the memory, `to` asked for it: the owner's processor takes no part
  void get(std::unique_ptr<delivery> g);
  void compute(peer_id rank, std::size_t reduced_bytes);

  /// The next delivery that a rank takes, after the time that it takes; null: nothing is under way.
  /// The receiver's work for the delivery before is over by then.
  std::unique_ptr<delivery> next();

  picoseconds clock_of(peer_id rank) const noexcept { return ranks_[rank].clock; }
  const traffic& traffic_of(peer_id rank) const noexcept { return ranks_[rank].sent; }
  /// Nothing is under way: all ranks begin anew at one moment, with no traffic. \return the moment
  picoseconds align();

  const network& machine() const noexcept { return net_; }
  weft::detail::time_point now() const noexcept override {
    return weft::detail::time_point(std::chrono::duration_cast<std::chrono::nanoseconds>(now_));
  }

 private:
  enum class stage : std::uint8_t { departs, arrives, there, rank_turns };
  struct event {
    picoseconds when;
    std::uint64_t number;  // events of one moment happen in the order in which they were made
    stage what;
    peer_id rank;      // whose turn it is
    delivery* moving;  // owned; a raw pointer, because a priority_queue does not move its top out
    bool operator>(const event& o) const noexcept {
      return when != o.when ? when > o.when : number > o.number;
    }
  };
  struct port {
    picoseconds out_free{0}, in_free{0};
  };
  struct rank_state {
    picoseconds clock{0};
    port own;
    traffic sent;
    std::deque<std::unique_ptr<delivery>> arrived;
    bool has_turn = false;  // an event says when it takes the first of these
  };

  void at(picoseconds when, stage what, peer_id rank, std::unique_ptr<delivery> moving = nullptr);
  port& port_of(peer_id rank, level l) noexcept {
    return l < level::host ? ranks_[rank].own : hosts_[net_.host_of(rank)];
  }
  const message_cost& cost(const delivery& p) const noexcept { return net_.cost(p.across); }
  picoseconds wire_time(const delivery& p) const noexcept;
  void count(peer_id sender, const delivery& p) noexcept;
  void depart(std::unique_ptr<delivery> p);
  void arrive(std::unique_ptr<delivery> p);
  void queue_at(peer_id rank, std::unique_ptr<delivery> p);
  void give_turn(peer_id rank);

  const network net_;
  picoseconds now_{0};
  std::uint64_t events_ = 0;
  std::priority_queue<event, std::vector<event>, std::greater<>> queue_;
  std::vector<rank_state> ranks_;
  std::vector<port> hosts_;
  peer_id working_ = weft::no_peer;  // took the last delivery
};

}  // namespace scale
