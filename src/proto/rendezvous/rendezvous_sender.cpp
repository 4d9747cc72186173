// SPDX-License-Identifier: Apache-2.0
#include "proto/rendezvous/rendezvous_sender.hpp"

#include <utility>

#include "proto/select/select.hpp"

namespace weft::proto {

bool rendezvous_sender::take_number(outbound_message& m) noexcept {
  m.op->id = messages_.insert(m);
  // Every number is taken by a message that waits for its answer, or there is no memory for the
  // first.
  if (m.op->id == 0 && messages_.none()) connection_->mark_failed();
  if (m.op->id != 0 && m.op->rendezvous)
    services_->engine.trace().begin(runtime::trace::kind::send_rendezvous, connection_->id(),
                                    m.op->id, m.op->size);
  return m.op->id != 0;
}

bool rendezvous_sender::end(outbound_message& m) noexcept {
  if (m.exposed && connection_->is_open()) connection_->link()->withdraw(*m.exposed);
  const local_id id = std::exchange(m.op->id, local_id{0});
  if (id == 0) return false;
  messages_.erase(id);
  if (m.op->rendezvous)
    services_->engine.trace().end(runtime::trace::kind::send_rendezvous, connection_->id(), id);
  return true;
}

bool rendezvous_sender::on_answer(frame_kind kind, const frame_extension& x) noexcept {
  outbound_message* const m = messages_.find(x.a);
  if (!m) return kind == frame_kind::cancelled;
  if (m->answer != frame_kind{}) return false;
  const bool fits = kind == frame_kind::cancelled
                        ? m->op->cancel_requested
                        : m->op->rendezvous != (kind == frame_kind::matched);
  if (!fits) return false;
  m->answer = kind;
  m->extension = x;
  if (m->waiting) m->waiting.resume();
  return true;
}

/// The frame may come when all data has left already and the sender's number belongs to another
/// message. The receiver's number tells: it is not used again before all data has come.
void rendezvous_sender::on_stop_data(const frame_extension& x) noexcept {
  outbound_message* const m = messages_.find(x.a);
  if (m && m->answer == frame_kind::cts && m->receiver_id() == x.b) m->stop_data = true;
}

void rendezvous_sender::fail() noexcept {
  numbers_.resume_all(false);
  messages_.for_each([](outbound_message& m) {
    if (m.answer != frame_kind{} && !m.putting) return;
    m.answer = lost;
    m.putting = false;
    if (m.waiting) m.waiting.resume();
  });
}

void chain_fin(chained_fin wanted, transports::link& link, std::uint64_t cookie, frame_kind kind,
               std::uint64_t id) noexcept {
  if (chains(wanted, link.traits()))
    link.chain(cookie, header_of(kind, 0, 0, transports::has_extension), {id, 0, 0});
}

}  // namespace weft::proto
