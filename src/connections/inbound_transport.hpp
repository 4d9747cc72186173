// SPDX-License-Identifier: Apache-2.0
// The transport that a peer sends by.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "proto/select/select.hpp"

namespace weft::connections {

/// The transport from which this side takes frames of one peer, and the offers of the peer so far.
/// A correct peer offers the transports of the list in its order, each of a transport's links once,
/// and goes on to the next one only where it can use none of them. So its frames come by one
/// transport at a time, and its offers have an end. A value; on the control plane's thread.
class inbound_transport {
 public:
  enum class verdict : std::uint8_t {
    first,    ///< no offer has been accepted yet
    further,  ///< another link of the accepted transport
    instead,  ///< another transport than the accepted one, which has to be forgotten before
    nonsense  ///< no correct peer offers that
  };

  /// So many offers in all: more than any list of transports has links.
  static constexpr std::size_t most_offers = 256;

  /// The peer offers a link. \param place of its transport in the list that both sides share
  verdict offered(std::uint16_t place, std::uint8_t number) noexcept {
    if (++offers_ > most_offers || number >= proto::most_links) return verdict::nonsense;
    if (place_ && place < *place_) return verdict::nonsense;
    if (place != place_) numbers_.reset();
    if (numbers_[number]) return verdict::nonsense;
    place_ = place;
    numbers_.set(number);
    if (!accepted_) return verdict::first;
    return accepted_ == place ? verdict::further : verdict::instead;
  }

  /// The last offer was accepted.
  void accepted() noexcept { accepted_ = place_; }

  /// The place of the accepted transport; nothing: none yet.
  const std::optional<std::uint16_t>& way() const noexcept { return accepted_; }
  /// The accepted transport was forgotten.
  void close() noexcept { accepted_.reset(); }

 private:
  std::size_t offers_ = 0;
  std::optional<std::uint16_t> place_;      // of the transport of the last offer
  std::bitset<proto::most_links> numbers_;  // its links that were offered
  std::optional<std::uint16_t> accepted_;
};

}  // namespace weft::connections
