// SPDX-License-Identifier: Apache-2.0
// Rendezvous by get: the receiver's link reads the payload.
//
//   SENDER                                  RECEIVER
//   expose (the memory)
//   rts (size, where to read) ------------> matched: get: the link reads ...
//                    <--------------------- ... has_read: fin_ack (or chained to the read)
//   withdraw; the send has ended            the receive has ended
//
// A read that fails falls back to frames: the receiver asks for them (rendezvous_pipeline.cpp).
#include <algorithm>
#include <utility>

#include "proto/eager/receiver.hpp"
#include "proto/rendezvous/rendezvous_sender.hpp"
#include "proto/select/select.hpp"

namespace weft::proto {

using transports::post;

void rendezvous_sender::expose(outbound_message& m) noexcept {
  const send_operation& op = *m.op;
  transports::link& link = *connection_->link();
  if (op.request.mode != detail::send_mode::loan &&
      !offers_read(services_->settings.rendezvous, link.prefers_put(op.size)))
    return;
  const std::span<const const_buffer> parts = op.request.data.parts();
  if (op.request.data.single()) {
    m.exposed = link.expose(parts.front());
  } else if (parts.size() == 2 && op.eager_end >= parts.front().size()) {
    m.exposed = link.expose(parts.back());
    m.exposed_from = parts.front().size();
  }
}

/// \return false: the data has to be requested, as if it could not be read
bool rendezvous_receiver::get(inbound_message& m) noexcept {
  const std::uint64_t wanted = std::min(m.total, m.room);
  if (m.arrived >= wanted) {
    has_read(m);
    return true;
  }
  if (reads_.size() >= most_reads) {
    wait_for_link(m);
    return true;
  }
  post answer = post::failed;
  m.read_id = reads_.insert(m);
  if (m.read_id != 0) {
    const remote_address from = m.at.after(m.arrived);
    const runtime::engine::long_step copying(services_->engine);
    answer = connection_->link()->get(m.into, from, wanted - m.arrived, m.read_id);
    if (runtime::call_tree* const tree = services_->engine.trace().tree()) [[unlikely]]
      tree->note(answer == post::posted ? "copy begins" : "copy in one step, or none",
                 {.bytes = wanted - m.arrived});
    if (answer == post::posted) {
      chain_fin(services_->settings.chained, *connection_->link(), m.read_id, frame_kind::fin_ack,
                m.sender_id);
      return true;
    }
    reads_.erase(std::exchange(m.read_id, local_id{0}));
  }
  if (answer == post::done)
    has_read(m);
  else if (answer == post::busy)
    wait_for_link(m);
  else
    m.readable = false;
  return answer != post::failed;
}

void rendezvous_receiver::on_transferred(std::uint64_t id, bool well) noexcept {
  inbound_message* const m = reads_.find(id);
  if (!m) return;
  reads_.erase(std::exchange(m->read_id, local_id{0}));
  if (well) {
    has_read(*m);
  } else {
    m->readable = false;
    if (m->stopping && !receiver::spares(*m)) receiver_->stop(*m);
    fetch(*m);
  }
  fetch_waiting();
}

void rendezvous_receiver::on_chained(std::uint64_t id) noexcept {
  if (inbound_message* const m = reads_.find(id)) m->told = true;
}

void rendezvous_receiver::has_read(inbound_message& m) noexcept {
  m.arrived = m.total;
  ++services_->counts.rendezvous_gets;
  if (!m.told) writer_->send_control(frame_kind::fin_ack, m.sender_id);
  receiver_->finish(m);
}

}  // namespace weft::proto
