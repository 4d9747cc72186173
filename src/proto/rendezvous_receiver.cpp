// SPDX-License-Identifier: Apache-2.0
// The payload of a rendezvous message from its match on.
#include "proto/rendezvous_receiver.hpp"

#include "proto/messenger.hpp"
#include "proto/select.hpp"

namespace weft::proto {

void rendezvous_receiver::fetch(inbound_message& m) noexcept {
  if (m.id != 0 || m.read_id != 0 || m.waits_for_link) return;
  if (!connection_->is_open()) {
    wait_for_link(m);
    connection_->want_link();
    return;
  }
  if (m.given_up) {
    if (!m.eager_done) return;  // as below
    writer_->send_control(frame_kind::fin_ack, m.sender_id);
    return receiver_->finish(m);
  }
  // Fragments could overtake the beginning, and their place depends on the bytes before.
  if (connection_->several() && !m.eager_done) return;
  payload_scheme scheme = choose(m);
  if (scheme == payload_scheme::read) {
    if (!m.eager_done) return;  // the beginning is still coming; then this is called again
    if (get(m)) return;
    scheme = choose(m);
  }
  m.id = asked_.insert(m);
  if (m.id == 0) {  // every number is taken: request the data when another message is done
    wait_for_link(m);
    if (asked_.none()) connection_->mark_failed();
    return;
  }
  ++connection_->owner().counts().rendezvous;
  writer_->send_control(frame_kind::cts, m.sender_id, m.id,
                        scheme == payload_scheme::write ? expect(m) : 0);
  if (m.whole() && m.eager_done) receiver_->finish(m);
}

/// The result of payload_scheme_for for a matched message.
payload_scheme rendezvous_receiver::choose(const inbound_message& m) const noexcept {
  const transports::link& link = *connection_->link();
  payload_facts known;
  known.wanted = connection_->owner().settings().rendezvous;
  known.readable = m.readable;
  known.prefers_get = m.readable && link.prefers_get(m.at, m.total);
  known.writable = m.receive->into.single() && m.arrived < m.total && m.total <= m.room;
  known.prefers_put = known.writable && link.prefers_put(m.total - m.arrived);
  return payload_scheme_for(known);
}

void rendezvous_receiver::wait_for_link(inbound_message& m) noexcept {
  m.waits_for_link = true;
  m.next_to_ask = nullptr;
  (first_waiting_ ? last_waiting_->next_to_ask : first_waiting_) = &m;
  last_waiting_ = &m;
}

void rendezvous_receiver::fetch_all_waiting() noexcept {
  inbound_message *m = std::exchange(first_waiting_, nullptr), *const last = last_waiting_;
  while (m && !first_waiting_) {
    inbound_message& one = *std::exchange(m, m->next_to_ask);
    one.waits_for_link = false;
    fetch(one);
  }
  if (!m) return;
  last_waiting_->next_to_ask = m;
  last_waiting_ = last;
}

}  // namespace weft::proto
