// SPDX-License-Identifier: Apache-2.0
// The payload of a rendezvous message from its match on.
#include "proto/rendezvous/rendezvous_receiver.hpp"

#include <algorithm>
#include <utility>

#include "proto/eager/receiver.hpp"
#include "proto/select/scheme_costs.hpp"

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
  if (m.receive && m.receive->view && std::exchange(m.lent, false) && take_view(m)) return;
  // Fragments could overtake the beginning, and their place depends on the bytes before.
  if (connection_->several() && !m.eager_done) return;
  payload_scheme scheme = choose(m);
  if (scheme == payload_scheme::get) {
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
  ++services_->counts.rendezvous;
  writer_->send_control(frame_kind::cts, m.sender_id, m.id,
                        scheme == payload_scheme::put ? expect(m) : 0);
  if (m.whole() && m.eager_done) receiver_->finish(m);
}

/// The result of payload_scheme_for for a matched message.
payload_scheme rendezvous_receiver::choose(inbound_message& m) noexcept {
  const transports::link& link = *connection_->link();
  payload_facts known;
  known.wanted = services_->settings.rendezvous;
  known.readable = m.readable;
  const std::uint64_t left = m.total - m.arrived;
  const auto prefers = !m.readable ? transports::preference::no
                       : left == 0 ? link.prefers_get(m.at, m.total)
                                   : link.prefers_get(m.at.after(m.arrived), left);
  m.measured = prefers == transports::preference::measured && m.receive && m.total <= m.room &&
               known.wanted == rendezvous_scheme::automatic;
  known.prefers_get = prefers == transports::preference::yes;
  if (m.measured) {
    // Once: it is asked again while the eager data still comes.
    if (m.fetched_at == detail::time_point{}) {
      m.fetched_at = services_->engine.now();
      m.payload = m.total - m.arrived;
      scheme_costs& costs = services_->costs.of(link.traits().name);
      m.by_get = costs.choose(m.total, asked_.size() + reads_.size()) == payload_scheme::get;
    }
    known.prefers_get = m.by_get;
  }
  known.writable =
      left != 0 && m.total <= m.room && (m.receive->into.single() || !m.place_of_rest().empty());
  known.prefers_put = known.writable && link.prefers_put(m.total - m.arrived);
  return payload_scheme_for(known);
}

/// A message that had the peer to itself took the time since its request, without that in which it
/// waited for its receive. Payloads that are under way together share the cores: there only what
/// came after the choice counts, and the time of one begins when the one before it has ended.
void rendezvous_receiver::ended(inbound_message& m) noexcept {
  if (!std::exchange(m.measured, false) || m.given_up || m.payload == 0 || !connection_->is_open())
    return;
  const detail::time_point now = services_->engine.now();
  const detail::time_point before = std::exchange(last_end_, now);
  const std::size_t others = asked_.size() + reads_.size() - (m.id != 0 ? 1 : 0);
  std::uint64_t bytes = m.payload;
  auto took = now - std::max(m.fetched_at, before);
  if (others == 0 && m.requested_at != detail::time_point{} && before <= m.requested_at) {
    bytes = m.total;
    took = now - m.requested_at;
    if (m.fetched_at > m.begun_at) took -= m.fetched_at - m.begun_at;
  }
  services_->costs.of(connection_->link()->traits().name)
      .note(m.by_get ? payload_scheme::get : payload_scheme::frames, m.total, bytes, took);
}

detail::time_point rendezvous_receiver::oldest_stop() const noexcept {
  auto oldest = detail::time_point::max();
  const auto consider = [&oldest](const inbound_message& m) {
    if (m.stopping) oldest = std::min(oldest, m.stopped_at);
  };
  asked_.for_each(consider);
  reads_.for_each(consider);
  for (const inbound_message* m = first_waiting_; m; m = m->next_to_ask) consider(*m);
  return oldest;
}

void rendezvous_receiver::wait_for_link(inbound_message& m) noexcept {
  m.waits_for_link = true;
  m.next_to_ask = nullptr;
  (first_waiting_ ? last_waiting_->next_to_ask : first_waiting_) = &m;
  last_waiting_ = &m;
}

void rendezvous_receiver::stop_waiting(inbound_message& m) noexcept {
  if (!std::exchange(m.waits_for_link, false)) return;
  inbound_message* before = nullptr;
  for (inbound_message* i = first_waiting_; i != &m; i = i->next_to_ask) before = i;
  (before ? before->next_to_ask : first_waiting_) = m.next_to_ask;
  if (last_waiting_ == &m) last_waiting_ = before;
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
