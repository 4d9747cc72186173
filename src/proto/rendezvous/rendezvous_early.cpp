// SPDX-License-Identifier: Apache-2.0
// Rendezvous without a handshake: the receiver has announced its receive before.
//
//   SENDER                                  RECEIVER
//                    <--------------------- early (tag, room): a receive was posted
//   rts (size; the payload follows) ------> matched
//   push_data: data (offset) -------------> on_early: to the receive's memory
//              data ...     --------------> ... whole: the receive has ended
//                    <--------------------- fin_ack
//   the send has ended
//
// The receiver matches as always. If no receive is there, it drops the payload, and asks for it
// when a receive has met the message (cts: rendezvous_receiver.cpp). So the sender keeps the
// message until the answer.
#include "proto/eager/receiver.hpp"

namespace weft::proto {

/// Whether the payload of a matched message is on its way.
bool rendezvous_receiver::expects_early(inbound_message& m) noexcept {
  if (!m.early) return false;
  m.id = asked_.insert(m);
  if (m.id == 0) m.early = false;  // every number is taken: it is asked for later
  return m.early;
}

mutable_buffer rendezvous_receiver::place_early(const frame_header& h, const frame_extension& x,
                                                std::uint32_t already) noexcept {
  inbound_message* const m = receiver_->numbered(x.a & ~unasked_bit);
  if (!m || !m->early || x.b != m->arrived) return {};
  return m->place_next(h.size, already);
}

/// A payload for no message under way is that of one that met no receive, or that was stopped.
bool rendezvous_receiver::on_early(const frame_header& h, const frame_extension& x,
                                   const std::byte* data) noexcept {
  inbound_message* const m = receiver_->numbered(x.a & ~unasked_bit);
  if (!m || !m->early) return true;
  if (x.b != m->arrived || h.size > m->total - m->arrived || !m->comes_as_said(data, h.size))
    return false;
  m->take(data, h.size);
  if (!m->whole()) return true;
  ++services_->counts.rendezvous_early;
  end_early(*m);
  return true;
}

void rendezvous_receiver::end_early(inbound_message& m) noexcept {
  writer_->send_control(frame_kind::fin_ack, m.sender_id);
  receiver_->finish(m);
}

}  // namespace weft::proto
