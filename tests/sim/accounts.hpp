// SPDX-License-Identifier: Apache-2.0
// The oracle's book of credit, memory and time: what was granted, what is on the way, how late.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "proto/peer.hpp"
#include "sim/log.hpp"
#include "support/dice.hpp"
#include "transports/fake/world.hpp"

namespace sim {

using fake::node;

/// Credit that one node has with another is conserved: what the sender may use, what its frames on
/// the way use, what the receiver holds and owes and what it has sent back are together what was
/// granted. And no frame that has arrived waits for longer than its transport's turns explain.
class accounts {
 public:
  accounts(log& l, nanoseconds turn) noexcept : log_(l), turn_(turn) {}

  void on_wire(const fake::world& w, fake::happening what, const fake::wire& wire,
               const fake::wire::frame& frame);

  /// Between two steps. \param from, to what the two say about their connection in that direction
  void check_credit(const weft::proto::peer& from, node sender, const weft::proto::peer& to,
                    node receiver);

  /// What is on the way between the two is lost, and their credit does not matter any more.
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
