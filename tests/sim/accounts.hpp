// SPDX-License-Identifier: Apache-2.0
// The oracle's account of credit, memory and time: granted credit, frames on the way, and their
// delays.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "proto/peer/peer.hpp"
#include "sim/log.hpp"
#include "support/dice.hpp"
#include "transports/fake/world.hpp"

namespace sim {

using fake::node;

/// Credit that one node has with another is conserved. The sum of these equals the granted credit:
/// what the sender may use, what its frames on the way use, what the receiver holds and owes, and
/// what the receiver has sent back. And no frame that has arrived waits for longer than its
/// transport's turns explain.
class accounts {
 public:
  accounts(log& l, nanoseconds turn) noexcept : log_(l), turn_(turn) {}

  void on_wire(const fake::world& w, fake::happening what, const fake::wire& wire,
               const fake::wire::frame& frame);

  /// Checked between two steps. \param from, to the states of the two peers for that direction
  void check_credit(const weft::proto::peer& from, node sender, const weft::proto::peer& to,
                    node receiver);

  /// Frames on the way between the two are lost, and their credit is not checked any more.
  void forget(node a, node b);

  std::uint64_t frames() const noexcept { return frames_; }

 private:
  struct on_the_way {
    std::int64_t units = 0;   ///< of payload, from the first to the second
    std::int64_t credit = 0;  ///< that the second one returns
    bool lost = false;
  };
  using direction = std::pair<node, node>;

  log& log_;
  const nanoseconds turn_;
  std::map<direction, on_the_way> ways_;
  std::uint64_t frames_ = 0;
};

}  // namespace sim
