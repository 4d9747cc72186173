// SPDX-License-Identifier: Apache-2.0
// Sends frames to one peer: posts them to the link, or keeps them until it is writable.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <weft/transport/transport.hpp>

#include "proto/connection/control_queue.hpp"
#include "proto/connection/flow_control.hpp"
#include "proto/connection/peer_connection.hpp"
#include "proto/services/services.hpp"
#include "proto/support/protocol_coroutine.hpp"

namespace weft::proto {

/// Posts the frames of all protocols with one peer, except for the messages of small_message.cpp,
/// which post their one frame themselves, and chained FINs, which the link posts without credit.
/// Each other frame carries credit to return. Control frames wait in this object in order while the
/// link refuses them; protocols with payload wait in it for space or credit. Part of a peer.
/// Progress lock held only.
class frame_writer {
 public:
  /// \throws std::bad_alloc
  frame_writer(const protocol_services& s, peer_connection& c) : services_(&s), connection_(&c) {}

  flow_control& flow() noexcept { return flow_; }
  const flow_control& flow() const noexcept { return flow_; }
  const control_queue& controls() const noexcept { return controls_; }

  /// Posts a frame, with credit to return in it.
  /// \param left not 0: bytes of the message that have not left; the memory of `data` need not be
  ///   free again at once: the answer may be `posted`
  transports::post post(frame_header header, const frame_extension* extension,
                        transports::gather& data, std::uint64_t left = 0) noexcept;
  /// Sends a frame without payload: at once, or when the link is writable or made.
  /// \param immediate 0: it is not sent
  void send_control(frame_kind kind, std::uint64_t a, std::uint64_t b = 0,
                    std::uint64_t immediate = 0) noexcept;
  /// As send_control, for an answer that no thread of the peer waits for: rings none that computes.
  void send_quietly(frame_kind kind, std::uint64_t a) noexcept;
  /// Queues a frame for a peer that closed the connection. \return whether it is kept
  bool add_last(const control_queue::entry& last) noexcept { return add_control(last); }
  /// Tells that so many frames have arrived by that rail. A waiting frame is updated.
  void tell_arrived(std::uint64_t rail, std::uint64_t frames) noexcept;
  /// \return whether all control frames have left
  bool flush() noexcept;
  /// Called after a frame that needs a reaction. The thread that makes a pass polls again soon, and
  /// the answer may be there by then; if that thread stops polling instead, it rings the peer
  /// first.
  void wake_peer() noexcept;

  // --- waiting for a writable link ------------------------------------------------------------

  /// Whether the link is open and took the last frame.
  bool is_writable() const noexcept { return connection_->is_open() && !refused_; }
  /// The link is writable again, or there is a new link.
  void set_writable() noexcept { refused_ = false; }
  /// `co_await space()`: for space in the link, or for credit. False: neither will come.
  queue_waiter space() noexcept { return queue_waiter(waiting_); }
  /// Resumes the waiting protocols, in turn, until the link refuses a frame.
  void resume() noexcept;
  /// Resumes all waiting protocols: a stopped operation may be among them, or (`granted` false) the
  /// connection has ended.
  void resume_all(bool granted) noexcept { waiting_.resume_all(granted); }

  // --- credit ---------------------------------------------------------------------------------

  void on_credit(std::uint16_t units) noexcept;
  /// Handles credit in both directions, after a message that was matched at once
  /// (flow_control::pass): what is to be returned leaves in a frame of its own where it is much.
  /// \param units that came with its frame, and have not been added \return true
  bool settle(std::uint16_t units = 0) noexcept;
  /// A message that held credit was matched, or has ended: its credit returns, in a frame of its
  /// own where the peer waits for it.
  void release_credit(std::uint32_t units) noexcept {
    if (units != 0 && flow_.release(units)) return_credit();
  }
  /// The peer ran out of credit: returns its credit, and doubles the window if messages that are
  /// not received hold most of it and the budget has that much. If the budget has too little, the
  /// peer gets more when others give it back.
  void grow_window() noexcept;
  /// How many units this side grants a peer that connects. The same again if the peer connects
  /// again (by another transport, when the first one did not work); none once it has ended.
  std::uint32_t grant_first_credit() noexcept;

  // --- what the connection's owner asks -------------------------------------------------------

  /// A link is wanted, and neither side has had one to the other.
  bool unmet() const noexcept {
    return connection_->now() == peer_connection::state::connecting && flow_.window() == 0 &&
           !connection_->closing();
  }
  /// Closed by the peer, which has not yet been told that its good-bye has arrived.
  bool owes_answer() const noexcept {
    return connection_->now() == peer_connection::state::closed && !controls_.empty();
  }
  /// Ended, or about to: the peer has been told that nothing will follow.
  bool is_closing() const noexcept { return connection_->has_ended() || good_bye_left_; }
  /// The peer answers this side's good-bye. \return false: none has left, or it was answered
  bool take_bye_answer() noexcept { return std::exchange(good_bye_left_, false); }
  /// Whether a link that is made now is of use.
  bool takes_link() const noexcept {
    return connection_->now() < peer_connection::state::open || owes_answer();
  }

  /// A frame that the peer waits for waits for space in the link; or the peer's multi-rail link,
  /// which may not be its link yet, owes frames of a rail that broke.
  bool unsent() const noexcept;
  /// Whether the peer waits for a frame of this side's, also if there is no link yet.
  bool owes() const noexcept;
  /// The same, as of the last note_unsent(). No message may begin then: a control frame before it
  /// may be about a number that the message has by now.
  bool has_unsent() const noexcept { return unsent_noted_; }
  /// The result of `unsent` has changed, or may have.
  void note_unsent() noexcept;
  /// One more, or one fewer, read by the peer of this side's memory waits for space.
  void note_serving(int more) noexcept {
    serving_ += static_cast<std::uint32_t>(more);
    note_unsent();
  }
  std::uint32_t serving() const noexcept { return serving_; }

  /// After the connection's end: nothing is sent any more. Credit that no message holds returns to
  /// the budget.
  void end() noexcept;

  /// The accounts of credit in both directions, for tools and tests. Units.
  struct balance {
    std::int64_t credit;          ///< units that this side may still send
    std::uint32_t window;         ///< units that the peer was granted in all
    std::uint32_t in_use;         ///< of these, in messages not matched yet
    std::uint32_t to_return;      ///< of these, free again and not told to the peer yet
    std::size_t waiting_credits;  ///< frames that return credit and wait for space in the link
    std::size_t waiting;          ///< control frames of any kind that wait for space
  };
  balance credit_state() const noexcept;

  // For the upkeep: among the peers that wait for the budget.
  frame_writer* starved_before = nullptr;
  frame_writer* starved_after = nullptr;
  bool starved = false;

 private:
  void return_credit() noexcept;
  bool add_control(const control_queue::entry& c) noexcept;
  bool needs_reaction(frame_kind kind) noexcept;

  const protocol_services* services_;
  peer_connection* connection_;
  flow_control flow_;
  waiters waiting_;
  bool refused_ = false;        // the link refused the last frame
  bool good_bye_left_ = false;  // and is not answered, as far as this side knows
  bool unsent_noted_ = false;   // unsent(), and the messenger was told so
  std::uint32_t serving_ = 0;   // reads by the peer that wait for space
  control_queue controls_;
};

}  // namespace weft::proto
