// SPDX-License-Identifier: Apache-2.0
// The receive descriptors of a peer that have travelled ahead.
#pragma once

#include <cstdint>
#include <deque>
#include <span>

#include "bindings/vipl/base/messages.hpp"

namespace weft::vipl {

/// What the side that sends knows of the other side's receive queue. With the NIC locked.
class known_descriptors {
 public:
  void restart() noexcept {
    known_.clear();
    dropped_ = 0;
  }
  /// Takes a list of the peer. \throws std::bad_alloc
  void learn(std::span<const std::byte> from);
  /// The descriptor that the message with that label will take. \return null: it is not known
  const known_descriptor* find(std::uint32_t label) noexcept;
  /// Whether `find` would find one, if labels are asked for in their order.
  bool reaches(std::uint32_t label) const noexcept {
    return !known_.empty() && !comes_before(known_.back().number, label - dropped_);
  }

 private:
  std::deque<known_descriptor> known_;
  std::uint32_t dropped_ = 0;  // messages that took no descriptor, as far as is known
};

}  // namespace weft::vipl
