// SPDX-License-Identifier: Apache-2.0
// The connection of a VI: its state, and the peer.
#pragma once

#include <optional>
#include <span>
#include <thread>

#include "bindings/vipl/base/wire.hpp"
#include "bindings/vipl/nic/nic.hpp"

namespace weft::vipl {

/// A connection request of equals that goes on by itself.
struct peer_attempt {
  std::jthread thread;
  bool over = false;  // with the NIC locked, as `result`
  VIP_RETURN result = VIP_NOT_DONE;
  time_point until;
};

/// With the NIC locked. Knows nothing of the queues: the VI tells them.
class vi_connection {
 public:
  /// Which side of a pending connection this is.
  enum class side : std::uint8_t { requests, accepts };
  /// What the other side has said to a connection that is pending.
  enum class answer : std::uint8_t { none, yes, no };

  explicit vi_connection(nic& of) noexcept : nic_(of) {}

  // --- states -----------------------------------------------------------------------------------

  VIP_VI_STATE state() const noexcept { return state_; }
  bool connected() const noexcept { return state_ == VIP_STATE_CONNECTED; }
  bool pending() const noexcept { return state_ == VIP_STATE_CONNECT_PENDING; }
  /// Pending from now on. Its epoch distinguishes it from others of this VI.
  void begin(side s) noexcept;
  void complete() noexcept { state_ = VIP_STATE_CONNECTED; }
  void fail() noexcept { state_ = VIP_STATE_ERROR; }
  void end() noexcept;  ///< idle from now on

  // --- the peer ---------------------------------------------------------------------------------

  const endpoint& peer() const noexcept { return peer_; }
  const introduction& remote() const noexcept { return remote_; }
  /// \return no_peer: there is none that matters
  peer_id peer_number() const noexcept { return connected() || pending() ? peer_id_ : no_peer; }
  bool is_of(peer_id p) const noexcept { return p == peer_id_; }
  std::uint16_t epoch() const noexcept { return epoch_; }
  answer heard() const noexcept { return heard_; }
  /// The side that requests: its peer is known. \throws std::bad_alloc
  /// \return false: another one has answered
  bool expect_answer_of(const endpoint& to);
  void set_peer(const endpoint& to, const introduction& who);  ///< \throws std::bad_alloc
  /// A pending connection has no hope.
  void refuse() noexcept;
  /// A message for a connection that is pending.
  void on_answer(const header& h, peer_id from, std::span<const std::byte> rest) noexcept;

  // --- messages to the peer ---------------------------------------------------------------------

  header header_of(message what) const noexcept {
    return {remote_.vi, remote_.epoch, what, 0, 0, 0};
  }
  /// Not in the handler of messages. \throws std::bad_alloc
  void say(const header& h, std::span<const std::byte> body = {}) { nic_.send_now(peer_, h, body); }
  void say(message what, std::span<const std::byte> body = {}) { say(header_of(what), body); }

  std::optional<peer_attempt> attempt;
  std::optional<peer_attempt> take_attempt() noexcept;

 private:
  nic& nic_;
  VIP_VI_STATE state_ = VIP_STATE_IDLE;
  answer heard_ = answer::none;
  side side_ = side::requests;
  std::uint16_t epoch_ = 0;
  peer_id peer_id_ = no_peer;  // known earlier than the endpoint, at a client
  endpoint peer_;
  introduction remote_{};
};

}  // namespace weft::vipl
