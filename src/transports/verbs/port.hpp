// SPDX-License-Identifier: Apache-2.0
// The receiving end of a connection.
#pragma once

#include <span>

#include "transports/verbs/wire.hpp"

namespace weft::transports::verbs {

/// Checks received frames, hands them to the frame sink, and counts them: the sender may not be
/// further ahead than its window. Owned by the pair; progress lock held only.
class port {
 public:
  enum class verdict : std::uint8_t {
    fine,
    disconnect,  ///< nothing will follow
    nonsense     ///< the received bytes make no sense, or the frame sink rejects them
  };

  /// \param bytes a whole receive, of the length that the device reports; free again afterwards
  /// \param to    null: the peer may send only frames of the transport
  verdict take(std::span<const std::byte> bytes, frame_sink* to) noexcept;

  /// How many frames were read, as the next frame of this side tells the peer. A frame that the
  /// frame sink is looking at is not among them: its place is not free yet.
  std::uint32_t read() const noexcept { return read_; }
  /// How many frames that count have come before the next one.
  std::uint32_t taken() const noexcept { return taken_; }
  /// How many of them the peer has not been told of.
  std::uint32_t owed() const noexcept { return read_ - told_; }
  void told() noexcept { told_ = read_; }

  bool heard_farewell() const noexcept { return received_disconnect_; }

 private:
  verdict take_own(const frame_header& h, std::size_t bytes) noexcept;

  std::uint32_t taken_ = 0;  // modulo 2^32, as the other two
  std::uint32_t read_ = 0;
  std::uint32_t told_ = 0;
  bool received_disconnect_ = false;
};

}  // namespace weft::transports::verbs
