// SPDX-License-Identifier: Apache-2.0
// Receiving: what a message needs once it has met its receive, up to its end.
#include <algorithm>

#include "proto/messenger.hpp"
#include "proto/select.hpp"

namespace weft::proto {

using detail::recv_operation;
using runtime::trace;

bool peer::deliver(inbound_message& m, recv_operation& op) noexcept {
  if (!std::exchange(m.claimed, false)) owner_.table().remove(m);
  if (gone() && !m.complete()) {
    add_credit_to_return(std::exchange(m.eager_units, 0));
    op.status = why_;
    release(m);
    return true;
  }
  owner_.unstore(m);
  m.match(op);
  if (m.ready(gone())) {
    add_credit_to_return(std::exchange(m.eager_units, 0));
    op.status = m.total > m.room ? errc::truncated : errc::ok;
    fill_in(m);
    release(m);
    return true;
  }
  owner_.engine().pending(op);
  on_matched(m);
  return false;
}

void peer::discard(inbound_message& m) noexcept {
  m.claimed = false;
  owner_.unstore(m);
  m.stored = nullptr;
  m.allocated.reset();
  m.given_up = true;
  if (!gone()) return on_matched(m);
  add_credit_to_return(std::exchange(m.eager_units, 0));
  release(m);
}

/// A message that is not simply complete has met its receive, or is not wanted.
void peer::on_matched(inbound_message& m) noexcept {
  add_credit_to_return(std::exchange(m.eager_units, 0));
  if (m.rendezvous)
    owner_.engine().trace().begin(trace::kind::receive_rendezvous, id_, m.sender_id, m.total);
  if (m.sender_id != 0 && !m.rendezvous) send_control(frame_kind::matched, m.sender_id);
  continue_receive(m);
}

/// Whatever a matched message needs next.
void peer::continue_receive(inbound_message& m) noexcept {
  if (m.whole() && m.eager_done && !m.rendezvous)
    finish_receive(m);
  else if (m.rendezvous && m.id == 0 && m.read_id == 0 && !m.waits_for_link)
    request_payload(m);
}

void peer::ask_later(inbound_message& m) noexcept {
  if (std::exchange(m.waits_for_link, true)) return;
  m.next_to_ask = nullptr;
  (to_ask_ ? last_to_ask_->next_to_ask : to_ask_) = &m;
  last_to_ask_ = &m;
}

/// Until one of them has to wait again: then those behind it wait, too.
void peer::ask_again() noexcept {
  inbound_message *m = std::exchange(to_ask_, nullptr), *const last = last_to_ask_;
  while (m && !to_ask_) {
    inbound_message& one = *std::exchange(m, m->next_to_ask);
    one.waits_for_link = false;
    request_payload(one);
  }
  if (!m) return;
  last_to_ask_->next_to_ask = m;
  last_to_ask_ = last;
}

/// Answers an rts: by reading the rest without the sender's help where that is better, else by
/// asking for it.
void peer::request_payload(inbound_message& m) noexcept {
  if (state_ != state::open) {
    ask_later(m);
    want_link();
    return;
  }
  if (m.given_up) {
    if (!m.eager_done) return;  // as below
    send_control(frame_kind::fin_ack, m.sender_id);
    return finish_receive(m);
  }
  // Fragments could overtake the beginning, and tell their place by what has come before.
  if (multi_rail_link_ && !m.eager_done) return;
  payload_scheme way = choose_payload_scheme(m);
  if (way == payload_scheme::read) {
    if (!m.eager_done) return;  // the beginning is still coming; then this is called again
    if (get_payload(m)) return;
    way = choose_payload_scheme(m);
  }
  m.id = asked_.insert(m);
  if (m.id == 0) {  // every number is taken: ask when one of the others is done
    ask_later(m);
    if (asked_.none()) mark_failed();
    return;
  }
  ++owner_.counts().rendezvous;
  send_control(frame_kind::cts, m.sender_id, m.id, way == payload_scheme::write ? expect(m) : 0);
  if (m.whole() && m.eager_done) finish_receive(m);
}

void peer::fill_in(inbound_message& m) noexcept {
  m.receive->message = nullptr;
  m.receive->got = m.about();
  metrics& n = owner_.counts();
  ++n.messages_received;
  n.bytes_received += m.total;
  owner_.engine().trace().instant(trace::kind::received, id_, m.total);
}

void peer::give_up(inbound_message& m) noexcept {
  if (m.stopping) return;
  if (m.in_hands_of_link())
    m.stopping = true;  // its memory goes back when the link, or the sender, has done with it
  else
    stop(m);
  // A rest that was not asked for yet is declined when it would be.
  if (m.id != 0) send_control(frame_kind::stop_data, m.sender_id, m.id);
}

/// Its receive ends, and the message goes on without it.
void peer::stop(inbound_message& m) noexcept {
  expect_no_more(m);
  m.given_up = true;
  m.stopping = false;
  m.receive->got = m.about();
  owner_.engine().end(m.unmatch(), errc::stopped);
}

void peer::finish_receive(inbound_message& m) noexcept {
  expect_no_more(m);
  if (m.rendezvous) owner_.engine().trace().end(trace::kind::receive_rendezvous, id_, m.sender_id);
  if (!m.given_up) {
    fill_in(m);
    owner_.engine().end(*m.receive, m.total > m.room ? errc::truncated : errc::ok);
  }
  release(m);
  if (to_ask_ && state_ == state::open) ask_again();
}

void peer::release(inbound_message& m) noexcept {
  if (m.id != 0) asked_.erase(m.id);
  if (m.sender_id != 0) numbered_.erase(m.sender_id);
  if (m.is_signal) --signals_;
  if (m.unexpected()) owner_.unstore(m);
  owner_.messages().give_back(m);
}

/// The sender ran out of credit: gets back what it is owed, and twice the window if messages that
/// are not received hold most of it and the budget has that much.
void peer::grow_window() noexcept {
  if (flow_.should_grow()) flow_.grow(owner_.take_budget(flow_.window()));
  if (flow_.to_return() != 0) return_credit();
}

}  // namespace weft::proto
