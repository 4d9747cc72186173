// SPDX-License-Identifier: Apache-2.0
// The frames after a message's first one, its withdrawal, and signals.
#include <algorithm>
#include <utility>

#include "proto/calls/call_table.hpp"
#include "proto/groups/group_table.hpp"
#include "proto/match/match.hpp"
#include "proto/match/unexpected_memory.hpp"
#include "proto/peer/peer.hpp"
#include "runtime/trace/probes.hpp"

namespace weft::proto {

/// A signal may come between the frames of a message.
bool receiver::on_signal(const frame_header& h, const frame_extension& x) noexcept {
  if (h.size != 0 || x.a < first_signal_tag) return false;
  if (is_revocation(x.a)) {
    groups_->on_revocation(connection_->id(), group_of(x.a), revocation::unpack(x.b));
    return true;
  }
  if (is_statement(x.a)) {
    const auto use = static_cast<statement_use>(call_mask - (x.a & call_mask));
    groups_->on_statement(connection_->id(), group_of(x.a), {use, x.b, x.immediate});
    return true;
  }
  const received what{connection_->id(), {x.a}, 0, x.b};
  if (recv_operation* const receive = take_receive(what)) {
    runtime::probe::match(what.source, x.a, 0, receive);
    runtime::probe::complete(runtime::probe::way::receive, what.source, x.a, 0, receive);
    receive->got = what;
    ++connection_->traffic().messages_received;
    services_->engine.end(*receive);
    return true;
  }
  if (signals_ == most_signals) return false;
  inbound_message* const in = take_inbound(0);
  if (!in) {
    peer_->give_up(errc::out_of_memory, "no memory for a signal without a receive");
    return true;
  }
  in->from = peer_;
  in->tag = x.a;
  in->immediate = x.b;
  in->total = 0;
  in->eager_done = in->is_signal = true;
  ++signals_;
  services_->matcher.add(*in);
  if (is_group_signal(x.a)) groups_->on_unexpected(*peer_, x.a);
  return true;
}

bool receiver::on_more(const frame_header& h, const std::byte* data) noexcept {
  inbound_message* m = current_;
  const std::uint32_t units = payload_units(h.size);
  const bool ends = (h.flags & eager_ends) != 0;
  if (!m || h.size > m->total - m->arrived || units > writer_->flow().usable() ||
      (ends && !m->rendezvous && m->arrived + h.size != m->total) ||
      (m->unexpected() && m->arrived + h.size > m->stored_size) || !m->comes_as_said(data, h.size))
    return false;
  writer_->flow().hold(units);
  const bool was_dispatched = m->is_dispatched();
  m->take(data, h.size);
  if (ends) {
    current_ = nullptr;
    m->eager_done = true;
    if (m->requested_at != detail::time_point{}) m->begun_at = services_->engine.now();
    services_->memory.trim(*m);
  }
  if (m->unexpected()) {
    m->eager_units += units;
    if (m->is_call && !was_dispatched && m->is_dispatched()) calls_->on_stored(*m);
  } else {
    writer_->release_credit(units);
    go_on(*m);
  }
  return true;
}

bool receiver::on_cancel(const frame_extension& x) noexcept {
  inbound_message* const m = numbered_.find(x.a);
  // Matched meanwhile, or taken by a claim: the sender gets the answer to its message instead. Of
  // one that is unexpected again it may have it.
  if (m && m->receive) m->cancel_came = true;
  if (!m || !m->unexpected() || (m->claimed && !m->waits_in) || m->id != 0) return true;
  if (m->is_call)
    calls_->take_back(*m);
  else
    services_->matcher.remove(*m);
  if (m == current_) current_ = nullptr;
  writer_->release_credit(m->eager_units);
  release(*m);
  writer_->send_control(frame_kind::cancelled, x.a);
  return true;
}

}  // namespace weft::proto
