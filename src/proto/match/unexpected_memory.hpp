// SPDX-License-Identifier: Apache-2.0
// The budget for unexpected messages, and their memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <weft/metrics.hpp>

#include "proto/frames/inbound_message.hpp"

namespace weft::proto {

class upkeep;

/// Bounds the memory of messages that no receive has matched yet, over all peers of a context:
/// peers get credit out of one budget. Owned by the messenger. Progress lock held only.
class unexpected_memory {
 public:
  /// \param budget bytes for all peers
  /// \param fixed_credit bytes of credit that each peer is granted, whatever is left of the budget;
  ///        empty: a share of the budget, and more later
  /// \param counts outlives this
  /// \param upkeep grants to peers that wait what is given back; used after the constructor
  unexpected_memory(std::size_t budget, std::optional<std::size_t> fixed_credit, metrics& counts,
                    proto::upkeep& upkeep) noexcept;

  /// Units that can still be granted to peers that have a window.
  std::uint32_t left() const noexcept {
    return fixed_ || left_ < 0 ? 0 : static_cast<std::uint32_t>(left_);
  }

  /// Takes the units that are left, at most `units`: for a window that grows. Fixed credit does
  /// not.
  std::uint32_t take(std::uint32_t units) noexcept;
  /// Takes units for a peer that connects: always some, so that the budget may be overdrawn.
  std::uint32_t take_first() noexcept;
  void give_back(std::uint32_t units) noexcept;

  /// Gives a message memory for `stored_size` bytes. \return false: there is none
  bool store(inbound_message& m) noexcept;
  /// The same for a message that holds no credit any more: its units are taken from the budget
  /// while it is unexpected. \return false: there is no memory, or the budget is used up
  bool store_again(inbound_message& m) noexcept;
  /// The message is no longer unexpected. Its memory stays until its bytes are copied.
  void unstore(inbound_message& m) noexcept;
  /// No more of the message comes without a request: memory beyond `arrived` is freed.
  void trim(inbound_message& m) noexcept;

 private:
  metrics* counts_;
  proto::upkeep* upkeep_;
  std::int64_t budget_;                 // units, for all peers
  std::int64_t left_;                   // units that can still be granted to peers
  std::optional<std::uint32_t> fixed_;  // units for each peer
};

}  // namespace weft::proto
