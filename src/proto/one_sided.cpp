// SPDX-License-Identifier: Apache-2.0
// One-sided access: the rest of a message that its receiver reads, or its sender writes.
#include <algorithm>

#include "proto/messenger.hpp"
#include "proto/rma.hpp"
#include "proto/select.hpp"

namespace weft::proto {

using detail::send_operation;
using transports::gather;
using transports::post;

namespace {
// What a link is asked to tell the end of: the number of a read, or that of a send and this.
constexpr std::uint64_t of_put = 1u << 16;
}  // namespace

/// Before the request: lets the receiver read.
void peer::expose(const send_operation& op, rendezvous_send_state& answer) noexcept {
  if (op.request.data.single() &&
      offers_read(owner_.settings().rendezvous, link_->prefers_put(op.size)))
    answer.exposed = link_->expose(op.request.data.front());
}

/// After the answer: writes to where the receiver expects it. \return failed: it goes in frames
post peer::put_payload(send_operation& op, rendezvous_send_state& answer) noexcept {
  const std::uint64_t where = answer.extension.immediate;
  if (state_ != state::open || where == 0 || answer.stop_data || op.sent == op.size ||
      !takes_write(owner_.settings().rendezvous))
    return post::failed;
  remote_address to = remote_address::unpack(where);
  to.offset += op.sent;
  const gather rest(op.request.data.parts(), op.sent);
  const post taken = link_->put(rest, to, op.size - op.sent, of_put | op.id);
  answer.putting = taken == post::posted;
  answer.told = answer.putting && link_->traits().fails_in_order;
  if (answer.told)
    send_control(frame_kind::fin, answer.extension.b);
  else if (answer.putting)
    chain(of_put | op.id, frame_kind::fin, answer.extension.b);
  return taken;
}

/// The link tells the peer by itself that it has copied, if it can and that is wanted.
void peer::chain(std::uint64_t cookie, frame_kind kind, std::uint64_t whose) noexcept {
  if (chains(owner_.settings().chained, link_->traits()))
    link_->chain(cookie, header_of(kind, 0, 0, transports::has_extension), {whose, 0, 0});
}

void peer::on_chained(std::uint64_t cookie) noexcept {
  if (gone()) return;
  if ((cookie & of_put) != 0) {
    if (rendezvous_send_state* const slot = replies_.find(cookie & ~of_put); slot && slot->putting)
      slot->told = true;
  } else if (inbound_message* const m = reads_.find(cookie)) {
    m->told = true;
  }
  wake_peer();
}

void peer::on_transferred(std::uint64_t cookie, bool well) noexcept {
  if (gone()) return;
  if ((cookie & rma_cookie_bit) != 0)
    return rma_->on_transferred(static_cast<std::uint16_t>(cookie), well);
  if ((cookie & of_put) != 0) {
    rendezvous_send_state* const slot = replies_.find(cookie & ~of_put);
    if (slot && slot->putting) on_put_ended(*slot, well);
    return;
  }
  inbound_message* const m = reads_.find(cookie);
  if (!m) return;
  reads_.erase(std::exchange(m->read_id, 0));
  if (well) {
    has_read(*m);
  } else {
    m->readable = false;
    if (m->stopping) stop(*m);
    request_payload(*m);
  }
  if (to_ask_) ask_again();
}

void peer::on_put_ended(rendezvous_send_state& slot, bool well) noexcept {
  // What was told of it does not arrive. Whether the peer left in good order, and took its memory
  // along, or the link broke, is told next; the message ends with that.
  if (slot.told && !well) return;
  slot.putting = false;
  slot.written = well;
  if (slot.waiting) slot.waiting.resume();
}

/// What payload_scheme_for makes of a matched message.
payload_scheme peer::choose_payload_scheme(const inbound_message& m) const noexcept {
  payload_facts known;
  known.wanted = owner_.settings().rendezvous;
  known.readable = m.readable;
  known.prefers_get = m.readable && link_->prefers_get(m.at, m.total);
  known.writable = m.receive->into.single() && m.arrived < m.total && m.total <= m.room;
  known.prefers_put = known.writable && link_->prefers_put(m.total - m.arrived);
  return payload_scheme_for(known);
}

/// \return false: it has to be asked for, as if it could not be read
bool peer::get_payload(inbound_message& m) noexcept {
  const std::uint64_t wanted = std::min(m.total, m.room);
  if (m.arrived >= wanted) {
    has_read(m);
    return true;
  }
  if (reads_.size() >= most_reads) {
    ask_later(m);
    return true;
  }
  post answer = post::failed;
  m.read_id = reads_.insert(m);
  if (m.read_id != 0) {
    const remote_address from{m.at.region, m.at.offset + m.arrived};
    answer = link_->get(m.into, from, wanted - m.arrived, m.read_id);
    if (answer == post::posted) {
      chain(m.read_id, frame_kind::fin_ack, m.sender_id);
      return true;
    }
    reads_.erase(std::exchange(m.read_id, 0));
  }
  if (answer == post::done)
    has_read(m);
  else if (answer == post::busy)
    ask_later(m);
  else
    m.readable = false;
  return answer != post::failed;
}

void peer::has_read(inbound_message& m) noexcept {
  m.arrived = m.total;
  ++owner_.counts().rendezvous_gets;
  if (!m.told) send_control(frame_kind::fin_ack, m.sender_id);
  finish_receive(m);
}

/// Lets the sender write. \return where, packed, from the first byte of the message on; 0: nowhere
std::uint64_t peer::expect(inbound_message& m) noexcept {
  const auto where = link_->expect(m.receive->into.front().first(m.total));
  if (!where) return 0;
  m.expected = true;
  m.expected_at = *where;
  return where->packed();
}

/// The memory of its receive is not the link's any more.
void peer::expect_no_more(inbound_message& m) noexcept {
  if (std::exchange(m.expected, false) && state_ == state::open) link_->withdraw(m.expected_at);
}

/// The sender says that it has written the rest.
bool peer::on_fin(const frame_extension& x) noexcept {
  inbound_message* const m = asked_.find(x.a);
  if (!m || !m->eager_done || !m->expected) return false;
  m->arrived = m->total;
  ++owner_.counts().rendezvous_puts;
  finish_receive(*m);
  return true;
}

}  // namespace weft::proto
