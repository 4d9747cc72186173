// SPDX-License-Identifier: Apache-2.0
// Receives that are announced to their source before their message begins.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <weft/operations/messages.hpp>

#include "proto/connection/frame_writer.hpp"
#include "proto/frames/frames.hpp"

namespace weft::proto {

/// Announces posted receives to one peer: those that only its messages can meet, and that are
/// longer than the eager limit. They are gathered, up to 32 in a frame, which leaves when it is
/// full, before the next message to that peer, or in the next pass. What the peer makes of that
/// changes no match: the peer may send a payload unasked, and the message still meets the first
/// receive that accepts it. Part of a peer, from the first such receive to the end of the
/// connection. Progress lock held only. docs/adr/0041-early-receives.md.
class early_receives {
 public:
  early_receives(const protocol_services& s, frame_writer& w, peer_connection& c) noexcept
      : services_(&s), writer_(&w), connection_(&c) {}

  /// A receive was posted. It is not announced if an earlier one that is not announced could take
  /// its message.
  void posted(recv_operation& op) noexcept;
  /// Whether some have been gathered, which `flush` sends.
  bool gathers() const noexcept { return gathered_ != 0; }
  /// An announced receive has met a message, or waits no more for another reason.
  void matched(detail::match_operation& op) noexcept { forget(op, false); }
  void stopped(detail::match_operation& op) noexcept { forget(op, true); }

  /// Sends what has been gathered, as far as the link takes it.
  void flush() noexcept;
  /// Whether a receive with that number was announced at any time.
  bool has_announced(std::uint64_t number) const noexcept { return number - 1 < sent_; }

 private:
  void forget(detail::match_operation& op, bool take_back) noexcept;

  const protocol_services* services_;
  frame_writer* writer_;
  peer_connection* connection_;
  std::uint64_t last_ = 0;    // number of the last one
  std::uint64_t sent_ = 0;    // largest number that has left
  std::size_t waiting_ = 0;   // announced, or gathered, and still posted
  std::size_t gathered_ = 0;  // of the array below
  std::array<early_receive, early_in_frame> next_;
};

}  // namespace weft::proto
