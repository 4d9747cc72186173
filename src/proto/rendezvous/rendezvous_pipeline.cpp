// SPDX-License-Identifier: Apache-2.0
// Rendezvous by frames: pieces of the payload follow each other, so that the receiver copies one
// out while the sender copies the next one in.
//
//   SENDER                                  RECEIVER
//   rts (size, eager data) ---------------> matched
//                    <--------------------- cts (the receiver's id)
//   push_data: data (offset) -------------> on_data: to the receive's memory
//              data ...     --------------> ... whole: the receive has ended
//   the send has ended
//
// A receive that is stopped sends stop_data; the sender ends the payload with an empty data frame,
// behind which the receiver's id is free.
#include <utility>

#include "proto/eager/receiver.hpp"
#include "proto/rendezvous/rendezvous_sender.hpp"
#include "proto/select/select.hpp"

namespace weft::proto {

using transports::post;

post rendezvous_sender::push_data(outbound_message& m, transports::gather& data) noexcept {
  send_operation& op = *m.op;
  std::size_t this_turn = 0;
  while (op.sent != op.size && !m.stop_data && connection_->is_open()) {
    if (this_turn >= bytes_per_turn) return post::posted;
    const std::size_t left = op.size - op.sent;
    const std::uint32_t n = next_piece(connection_->link()->traits(), op.sent, left);
    const frame_extension x{m.receiver_id(), op.sent, 0};
    const post taken =
        writer_->post(header_of(frame_kind::data, 0, n, transports::has_extension), &x, data, left);
    if (taken != post::done && taken != post::posted) return taken;
    op.sent += n;
    this_turn += n;
  }
  return post::done;
}

bool rendezvous_sender::is_held(const outbound_message& m) const noexcept {
  return connection_->is_open() && connection_->link()->holds_for(m.receiver_id());
}

/// The receiver's number is free when this frame has come, after all other frames that name it.
void rendezvous_sender::end_data(outbound_message& m) noexcept {
  send_operation& op = *m.op;
  if (!m.stop_data || op.sent == op.size || !connection_->is_open()) return;
  writer_->send_control(frame_kind::data, m.receiver_id(), op.size);
  op.sent = op.size;
}

/// Only for bytes that are certain to be taken.
mutable_buffer rendezvous_receiver::place(const frame_header& h, const frame_extension& x,
                                          std::uint32_t already) noexcept {
  inbound_message* const m = asked_.find(x.a);
  if (!m || !m->eager_done || x.b != m->arrived) return {};
  return m->place_next(h.size, already);
}

bool rendezvous_receiver::on_data(const frame_header& h, const frame_extension& x,
                                  const std::byte* data) noexcept {
  inbound_message* const m = asked_.find(x.a);
  if (!m || !m->eager_done) return false;
  if ((m->given_up || m->stopping) && h.size == 0 && x.b == m->total) {
    if (m->stopping) receiver_->stop(*m);
    receiver_->finish(*m);  // the answer to stop_data
    return true;
  }
  if (x.b != m->arrived || h.size > m->total - m->arrived || !m->comes_as_said(data, h.size))
    return false;
  m->take(data, h.size);
  if (m->whole()) receiver_->finish(*m);
  return true;
}

namespace {
/// Whether a fragment may be part of that message. Which bytes have come is not checked: a peer
/// that sends some twice and others never harms only its own message.
bool fits(const inbound_message& m, const frame_header& h, const frame_extension& x) noexcept {
  return m.eager_done && h.size != 0 && x.b <= m.total && h.size <= m.total - x.b &&
         h.size <= m.total - m.arrived;
}
}  // namespace

mutable_buffer rendezvous_receiver::place_fragment(const frame_header& h, const frame_extension& x,
                                                   std::uint32_t already) noexcept {
  const inbound_message* const m = asked_.find(x.a);
  if (!m || !fits(*m, h, x) || already >= h.size) return {};
  return m->place_at(x.b + already, h.size - already);
}

bool rendezvous_receiver::on_fragment(const frame_header& h, const frame_extension& x,
                                      const std::byte* data) noexcept {
  inbound_message* const m = asked_.find(x.a);
  if (!m || !fits(*m, h, x)) return false;
  m->take_at(x.b, data, h.size);
  if (m->whole()) receiver_->finish(*m);
  return true;
}

}  // namespace weft::proto
