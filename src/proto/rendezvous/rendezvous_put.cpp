// SPDX-License-Identifier: Apache-2.0
// Rendezvous by put: the sender's link writes the payload.
//
//   SENDER                                  RECEIVER
//   rts (size) ---------------------------> matched: expect (the memory)
//                    <--------------------- cts (where to write)
//   put: the link writes ...
//   ... has_put: fin (or chained, or sent
//       behind the put) ------------------> withdraw; the receive has ended
//   the send has ended
//
// A put that fails falls back to frames (rendezvous_pipeline.cpp).
#include "proto/eager/receiver.hpp"
#include "proto/rendezvous/rendezvous_sender.hpp"
#include "proto/select/select.hpp"

namespace weft::proto {

using transports::post;

post rendezvous_sender::put(outbound_message& m) noexcept {
  const send_operation& op = *m.op;
  const std::uint64_t where = m.extension.immediate;
  if (!connection_->is_open() || where == 0 || m.stop_data || op.sent == op.size ||
      !takes_write(services_->settings.rendezvous))
    return post::failed;
  const remote_address to = remote_address::unpack(where).after(op.sent);
  const transports::gather rest(op.request.data.parts(), op.sent);
  transports::link& link = *connection_->link();
  const post taken = link.put(rest, to, op.size - op.sent, put_cookie_bit | op.id);
  m.putting = taken == post::posted;
  if (runtime::call_tree* const tree = services_->engine.trace().tree()) [[unlikely]]
    tree->note(m.putting ? "copy begins" : "copy in one step, or none",
               {.bytes = op.size - op.sent});
  m.told = m.putting && link.traits().fails_in_order;
  if (m.told)
    writer_->send_control(frame_kind::fin, m.receiver_id());
  else if (m.putting)
    chain_fin(services_->settings.chained, link, put_cookie_bit | op.id, frame_kind::fin,
              m.receiver_id());
  return taken;
}

void rendezvous_sender::on_chained(std::uint64_t id) noexcept {
  if (outbound_message* const m = messages_.find(id); m && m->putting) m->told = true;
}

void rendezvous_sender::on_transferred(std::uint64_t id, bool well) noexcept {
  outbound_message* const m = messages_.find(id);
  if (!m || !m->putting) return;
  // The fin that was sent for it does not arrive. The next call tells whether the peer left in good
  // order with its memory, or the link broke; the message ends with that.
  if (m->told && !well) return;
  m->putting = false;
  m->written = well;
  if (m->waiting) m->waiting.resume();
}

void rendezvous_sender::has_put(outbound_message& m) noexcept {
  if (!m.told) writer_->send_control(frame_kind::fin, m.receiver_id());
  m.op->sent = m.op->size;
}

/// Lets the sender write. \return where, packed, as from the first byte of the message on; 0: no
/// place. Of a list it is only the rest that has one
std::uint64_t rendezvous_receiver::expect(inbound_message& m) noexcept {
  const bool whole = m.receive->into.single();
  const auto where = connection_->link()->expect(whole ? m.receive->into.front().first(m.total)
                                                       : m.place_of_rest());
  if (!where) return 0;
  m.expected = true;
  m.expected_at = *where;
  return (whole ? *where : where->before(m.arrived)).packed();
}

/// The sender has written the rest.
bool rendezvous_receiver::on_fin(const frame_extension& x) noexcept {
  inbound_message* const m = asked_.find(x.a);
  if (!m || !m->eager_done || !m->expected) return false;
  m->arrived = m->total;
  ++services_->counts.rendezvous_puts;
  receiver_->finish(*m);
  return true;
}

}  // namespace weft::proto
