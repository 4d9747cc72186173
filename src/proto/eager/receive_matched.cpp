// SPDX-License-Identifier: Apache-2.0
// A message from its match to its end; and the end of the connection.
#include <utility>

#include <weft/detail/value_ops.hpp>

#include "proto/calls/call_table.hpp"
#include "proto/match/match.hpp"
#include "proto/match/unexpected_memory.hpp"
#include "proto/peer/peer.hpp"
#include "proto/select/select.hpp"
#include "runtime/trace/probes.hpp"

namespace weft::proto {

using runtime::trace;

bool receiver::deliver(inbound_message& m, recv_operation& op) noexcept {
  const bool gone = connection_->has_ended();
  if (!std::exchange(m.claimed, false)) services_->matcher.remove(m);
  if (gone && !m.complete()) {
    writer_->release_credit(std::exchange(m.eager_units, 0));
    op.status = connection_->why();
    release(m);
    return true;
  }
  const bool makes_room = !(m.lent && op.view);  // else when the link has shown whether it need
  if (const errc refusal = makes_room ? detail::make_room(op, m.total) : errc::ok;
      refusal != errc::ok) [[unlikely]] {
    op.got = m.about();
    op.status = refusal;
    discard(m);
    return true;
  }
  services_->memory.unstore(m);
  runtime::probe::match(connection_->id(), m.tag, m.total, &op);
  m.match(op);
  if (runtime::call_tree* const tree = services_->engine.trace().tree()) [[unlikely]]
    tree->note("matched with a message that had come", {});
  if (m.ready(gone)) {
    writer_->release_credit(std::exchange(m.eager_units, 0));
    op.status = m.total > m.room ? errc::truncated : errc::ok;
    fill_in(m);
    release(m);
    return true;
  }
  services_->engine.pending(op);
  on_matched(m);
  return false;
}

void receiver::drop(inbound_message& m) noexcept {
  services_->matcher.remove(m);
  discard(m);
}

void receiver::discard(inbound_message& m, bool used) noexcept {
  m.claimed = false;
  m.used = used;
  services_->memory.unstore(m);
  m.stored = nullptr;
  m.allocated.reset();
  m.given_up = true;
  if (!connection_->has_ended()) return on_matched(m);
  if (used) count(m.total);
  writer_->release_credit(std::exchange(m.eager_units, 0));
  release(m);
}

/// A message that is not simply complete has met its receive, or is not wanted.
void receiver::on_matched(inbound_message& m) noexcept {
  writer_->release_credit(std::exchange(m.eager_units, 0));
  if (m.rendezvous)
    services_->engine.trace().begin(trace::kind::receive_rendezvous, connection_->id(), m.sender_id,
                                    m.total);
  else if (m.sender_id != 0)
    writer_->send_control(frame_kind::matched, m.sender_id);
  go_on(m);
}

/// Takes the next step of a matched message.
void receiver::go_on(inbound_message& m) noexcept {
  if (m.rendezvous)
    rendezvous_->fetch(m);
  else if (m.complete())
    finish(m);
}

void receiver::fill_in(inbound_message& m) noexcept {
  m.receive->message = nullptr;
  m.receive->got = m.about();
  runtime::probe::complete(runtime::probe::way::receive, connection_->id(), m.tag, m.total,
                           m.receive);
  count(m.total);
}

void receiver::count(std::uint64_t bytes) noexcept {
  traffic_metrics& n = connection_->traffic();
  ++n.messages_received;
  n.bytes_received += bytes;
  note_received(bytes);
}

/// In the trace.
void receiver::note_received(std::uint64_t bytes) noexcept {
  services_->engine.trace().instant(trace::kind::received, connection_->id(), bytes);
}

void receiver::finish(inbound_message& m) noexcept {
  rendezvous_->withdraw(m);
  rendezvous_->ended(m);
  runtime::engine& engine = services_->engine;
  if (m.rendezvous)
    engine.trace().end(trace::kind::receive_rendezvous, connection_->id(), m.sender_id);
  if (m.unexpected()) {  // again: it waits like any message that is whole
    rendezvous_->forget(m);
    free_number(m);
    m.rendezvous = false;
  } else {
    if (m.used)
      count(m.total);
    else if (m.given_up)
      ++services_->counts.messages_dropped;
    if (!m.given_up) {
      fill_in(m);
      engine.end(*m.receive, m.total > m.room ? errc::truncated : errc::ok);
    }
    release(m);
  }
  rendezvous_->fetch_waiting();
}

/// Messages that one frame could have carried: of these none is dropped because its receive was
/// stopped. They need an answer, and can be stopped before it comes, where the sender has no
/// credit.
bool receiver::spares(const inbound_message& m) noexcept {
  const bool ordinary = m.tag < first_reserved_tag || detail::is_group_tag(weft::tag{m.tag});
  return ordinary && m.total <= one_frame;
}

/// The message is unexpected again, at its place in the order of arrival. Not if a later receive
/// may have taken a later message in its place, if the link may be writing to the memory, or if the
/// budget for unexpected messages is used up.
bool receiver::put_back(inbound_message& m) noexcept {
  if (m.in_hands_of_link() || connection_->several() || (m.rendezvous && !m.eager_done) ||
      !m.is_all_there() || !services_->matcher.is_newest(*m.receive, peer_, m.tag))
    return false;
  m.stored_size = m.total;
  if (!services_->memory.store_again(m)) return false;
  services_->engine.end(m.take_back(), errc::stopped);
  m.measured = false;
  rendezvous_->stop_waiting(m);
  if (!m.rendezvous) free_number(m);  // the sender has its answer
  services_->matcher.add_again(m);
  if (m.cancel_came) on_cancel({m.sender_id, 0, 0});
  return true;
}

/// The sender may use its number of the message again.
void receiver::free_number(inbound_message& m) noexcept {
  if (const local_id number = std::exchange(m.sender_id, local_id{0}); number != 0)
    numbered_.erase(number);
}

void receiver::give_up(inbound_message& m) noexcept {
  if (m.stopping) return;
  if (spares(m)) {
    if (put_back(m)) return;  // released, where the sender had taken it back
    m.stopping = true;        // the receive ends well, when all of the message is here
    m.stopped_at = services_->upkeep.note_stop();
    return;
  }
  if (m.in_hands_of_link()) {
    m.stopping = true;  // the memory goes back when the link, or the sender, has finished with it
    m.stopped_at = services_->upkeep.note_stop();
  } else {
    stop(m);
  }
  // A rest that was not requested yet is declined when it would be requested.
  if (m.id != 0) writer_->send_control(frame_kind::stop_data, m.sender_id, m.id);
}

detail::time_point receiver::oldest_stop() const noexcept {
  const detail::time_point others = rendezvous_->oldest_stop();
  return current_ && current_->stopping ? std::min(others, current_->stopped_at) : others;
}

void receiver::stop(inbound_message& m) noexcept {
  rendezvous_->withdraw(m);
  m.given_up = true;
  m.stopping = false;
  m.receive->got = m.about();
  services_->engine.end(m.unmatch(), errc::stopped);
}

void receiver::release(inbound_message& m) noexcept {
  rendezvous_->forget(m);
  free_number(m);
  if (m.is_signal) --signals_;
  if (m.unexpected()) services_->memory.unstore(m);
  services_->messages.give_back(m);
}

std::uint64_t receiver::under_way() const noexcept {
  const inbound_message* const m = current_ ? current_ : rendezvous_->any();
  return m ? m->total : 0;
}

void receiver::fail(errc why) noexcept {
  for (detail::match_operation *m = services_->matcher.take_posted(peer_), *next = nullptr; m;
       m = next) {
    next = m->after;
    services_->engine.end(*m, why);
  }
  if (current_ && current_->unexpected()) {
    if (current_->is_call && !current_->is_dispatched()) calls_->on_cut_off(*current_);
    current_ = nullptr;
  }
  const auto drop = [&](inbound_message& m) {
    if (m.unexpected()) return;  // it is swept, or its claim finds it
    if (&m == current_) current_ = nullptr;
    if (m.receive) services_->engine.end(m.unmatch(), why);
    release(m);
  };
  rendezvous_->fail(drop);
  if (current_) drop(*current_);
}

bool receiver::sweep(std::size_t most) noexcept {
  for (; most != 0; --most) {
    inbound_message* const m = unexpected_queue::sweep(peer_->unexpected);
    if (!m) return true;
    if (m->complete()) continue;  // it can still be received
    services_->matcher.remove(*m);
    writer_->release_credit(std::exchange(m->eager_units, 0));
    release(*m);
  }
  return false;
}

}  // namespace weft::proto
