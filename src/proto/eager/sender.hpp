// SPDX-License-Identifier: Apache-2.0
// Messages to one peer: sent at once where that is possible, else by a protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <weft/coro/detail/timer.hpp>
#include <weft/operations/messages.hpp>

#include "proto/connection/frame_writer.hpp"
#include "proto/connection/send_order.hpp"
#include "proto/rendezvous/rendezvous_sender.hpp"
#include "proto/support/protocol_coroutine.hpp"

namespace weft::proto {

struct loan_message;

/// Sends messages: eager frames in order (send_eager.cpp); a coroutine (send_message.cpp) sends
/// messages that have to wait for their turn, credit, space or an answer. Part of a peer. Progress
/// lock held only.
class sender {
 public:
  sender(const protocol_services& s, frame_writer& w, peer_connection& c) noexcept
      : services_(&s), connection_(&c), writer_(&w), order_(c), rendezvous_(s, w, c) {}

  /// Of a request that names this peer, which no other has become meanwhile.
  /// \return true if the operation has ended, with op.status set
  bool start(send_operation& op) noexcept;
  void cancel(send_operation& op) noexcept;
  /// The largest message that always goes in one frame, in bytes; 0: there is no link yet.
  std::size_t small_limit() const noexcept { return small_limit_; }
  /// An answer of the peer to one of this side's messages. \return false: no correct peer sends it
  bool on_answer(frame_kind kind, const frame_extension& x) noexcept;
  /// Whether a message has begun, or waits for its turn, and has not ended.
  bool any_under_way() const noexcept { return under_way_ != 0; }
  /// Every later message is asked whether it may begin: none takes the short path.
  void leave_short_path() noexcept { short_end_ = 0; }
  /// Whether a message may begin at once: no other one is being begun.
  bool is_free() const noexcept { return connection_->is_open() && !order_.held(); }

  send_order& order() noexcept { return order_; }
  const send_order& order() const noexcept { return order_; }
  rendezvous_sender& rendezvous() noexcept { return rendezvous_; }
  const rendezvous_sender& rendezvous() const noexcept { return rendezvous_; }

  /// Messages of fewer bytes may leave by the short path (small_message.cpp).
  std::size_t short_end() const noexcept { return short_end_; }

  /// Of the sends that were stopped after they had begun, and have not ended, the first stop; else
  /// time_point::max().
  detail::time_point oldest_stop() const noexcept;

  /// The connection is open: takes the limits of its link.
  void opened() noexcept;
  /// The connection has ended.
  void fail() noexcept;

 private:
  bool start_now(send_operation& op) noexcept;
  bool may_begin(const send_operation& op) const noexcept;
  void let_answers_go() noexcept;
  bool plan(send_operation& op) noexcept;
  std::size_t longest_beginning(std::size_t size) const noexcept;
  bool receiver_gets(std::size_t size) const noexcept;
  void note_answer(const outbound_message& m, frame_kind answer) noexcept;
  transports::post push_eager(send_operation& op) noexcept;
  void fill_first(const send_operation& op, frame_header& h, frame_extension& x) const noexcept;
  void begin(send_operation& op, bool has_turn) noexcept;
  protocol_coroutine send_message(send_operation& op, bool has_turn,
                                  outbound_message* answered = nullptr) noexcept;
  bool lends(const send_operation& op) const noexcept;
  bool lend(loan_message& l) noexcept;
  bool on_answer_to_loan(outbound_message& m, frame_kind kind, const frame_extension& x) noexcept;
  protocol_coroutine send_signal(send_operation& op) noexcept;
  void count(const send_operation& op) noexcept;
  void finish(send_operation& op, errc status) noexcept;
  void finish(outbound_message& m, errc status) noexcept;
  errc status_early(const send_operation& op) const noexcept;
  errc status_after(const outbound_message& m) const noexcept;
  errc status_of(frame_kind answer) const noexcept;

  const protocol_services* services_;
  peer_connection* connection_;
  frame_writer* writer_;
  std::size_t small_limit_ = 0;  // bytes of the largest message that always goes in one frame
  std::size_t short_end_ = 0;    // all of these, or none
  std::size_t eager_limit_ = 0;  // bytes of the largest message that goes without a handshake
  bool measures_ = false;        // traits::measures_payloads, and eager data is automatic
  bool inlines_ = true;          // the beginning of a long message goes with its request
  std::size_t under_way_ = 0;    // messages that a protocol sends
  send_order order_;
  rendezvous_sender rendezvous_;
};

}  // namespace weft::proto
