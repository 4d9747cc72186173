// SPDX-License-Identifier: Apache-2.0
// Messages from one peer: eager frames in, until a message has met its receive.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/operations/messages.hpp>

#include "proto/connection/frame_writer.hpp"
#include "proto/frames/inbound_message.hpp"
#include "proto/frames/sender_numbers.hpp"
#include "proto/rendezvous/rendezvous_receiver.hpp"

namespace weft::proto {

class call_table;
class group_table;

/// Whether a message needs neither more frames nor an answer. It may have an extension for an
/// immediate word.
constexpr bool is_whole(const frame_header& h, const frame_extension* x) noexcept {
  return h.kind == static_cast<std::uint8_t>(frame_kind::eager) &&
         (!x || (x->a == h.size && x->b == 0 && (h.flags & eager_ends) != 0));
}

/// Receives eager messages, the beginnings of rendezvous messages, and signals, and matches each
/// with its receive. The payload of a rendezvous is handled by rendezvous_receiver. Part of a peer.
/// Progress lock held only. A frame that no correct peer sends is refused: false.
class receiver {
 public:
  /// \param p the source of the messages, for matching
  receiver(const protocol_services& s, call_table& calls, group_table& groups, peer& p,
           frame_writer& w, rendezvous_receiver& r, peer_connection& c) noexcept
      : services_(&s),
        calls_(&calls),
        groups_(&groups),
        peer_(&p),
        connection_(&c),
        writer_(&w),
        rendezvous_(&r) {}

  // --- frames (receive_first.cpp, receive_eager.cpp) ------------------------------------------

  /// The first frame of a message.
  bool on_message(const frame_header& h, const frame_extension* x, const std::byte* data) noexcept;
  bool on_more(const frame_header& h, const std::byte* data) noexcept;
  bool on_signal(const frame_header& h, const frame_extension& x) noexcept;
  bool on_cancel(const frame_extension& x) noexcept;
  /// As frame_sink::place, for `more`.
  mutable_buffer place_more(const frame_header& h, std::uint32_t already) noexcept {
    return current_ ? current_->place_next(h.size, already) : mutable_buffer{};
  }

  // --- from a message's match to its end (receive_matched.cpp) --------------------------------

  /// A receive takes a message that was unexpected so far. \return true if it is complete
  bool deliver(inbound_message& m, recv_operation& op) noexcept;
  /// As if a receive without memory took a claimed message.
  /// \param used it was read where it lies, and counts as received
  void discard(inbound_message& m, bool used = false) noexcept;
  /// The same for an unexpected message.
  void drop(inbound_message& m) noexcept;
  /// The receive was stopped. It ends at once, unless the link may be writing to its memory. A
  /// short message is unexpected again; where its order would suffer, the receive ends well when
  /// all of it is here. Further bytes of a longer one are dropped, and its sender learns that they
  /// are not needed.
  void give_up(inbound_message& m) noexcept;
  /// Of the receives that were stopped and have not ended, the first stop; else
  /// time_point::max().
  detail::time_point oldest_stop() const noexcept;
  /// Whether the message outlives a receive that is stopped.
  static bool spares(const inbound_message& m) noexcept;
  /// The receive ends stopped, and the message goes on without it.
  void stop(inbound_message& m) noexcept;
  /// All of a matched message is here, or is not wanted.
  void finish(inbound_message& m) noexcept;

  /// Calls `act` for each message that has begun to arrive and waits for more frames, or whose
  /// sender waits for an answer.
  template <class Action>
  void for_each_under_way(Action act) const {
    if (current_ && current_->sender_id == 0) act(*current_);
    numbered_.for_each(act);
  }

  // --- the connection -------------------------------------------------------------------------

  /// Whether anything has come from the peer, as far as credit and messages show.
  bool has_received() const noexcept {
    return writer_->flow().in_use() != 0 || writer_->flow().to_return() != 0 || signals_ != 0 ||
           current_ || !rendezvous_->none();
  }
  /// Whether unexpected messages of the peer are left.
  bool holds_messages() const noexcept { return writer_->flow().in_use() != 0 || signals_ != 0; }
  /// Whether `more` frames are to come before another message.
  bool is_amid_message() const noexcept { return current_ != nullptr; }
  /// Bytes of a message that is under way; 0: none is.
  std::uint64_t under_way() const noexcept;
  /// The connection has ended: ends all receives that only this peer could serve, and those that
  /// have met a message of the peer that will never be whole.
  void fail(errc why) noexcept;
  /// Called after `fail`: releases unexpected messages that will never be whole; `most` at a time.
  /// \return whether none is left
  bool sweep(std::size_t most) noexcept;

 private:
  // receive_first.cpp
  struct first_frame;
  enum class taking : std::uint8_t { done, keep, invalid };
  bool is_valid(const first_frame& f, const std::byte* data) const noexcept;
  taking take_whole(const first_frame& f, const std::byte* data) noexcept;
  taking take_whole_call(const first_frame& f, const std::byte* data) noexcept;
  inbound_message* begin(const first_frame& f) noexcept;
  bool meet(inbound_message& m, const first_frame& f, const std::byte* data,
            recv_operation*& receive) noexcept;
  bool refuse_message(inbound_message& m) noexcept;
  recv_operation* take_receive(const received& what) noexcept;
  inbound_message* take_inbound(local_id number) noexcept;
  bool make_room(recv_operation& op, const received& what) noexcept;
  bool keep_unexpected(inbound_message& m) noexcept;
  bool is_revoked(std::uint64_t tag) const noexcept;

  // receive_matched.cpp
  void count(std::uint64_t bytes) noexcept;
  void note_received(std::uint64_t bytes) noexcept;
  bool put_back(inbound_message& m) noexcept;
  void on_matched(inbound_message& m) noexcept;
  void go_on(inbound_message& m) noexcept;
  void fill_in(inbound_message& m) noexcept;
  void release(inbound_message& m) noexcept;
  void free_number(inbound_message& m) noexcept;

  const protocol_services* services_;
  call_table* calls_;
  group_table* groups_;
  peer* peer_;
  peer_connection* connection_;
  frame_writer* writer_;
  rendezvous_receiver* rendezvous_;
  inbound_message* current_ = nullptr;        // the message that `more` frames continue
  std::uint32_t signals_ = 0;                 // messages not matched yet that hold no credit
  sender_numbers<inbound_message> numbered_;  // messages that the peer awaits an answer to
};

}  // namespace weft::proto
