// SPDX-License-Identifier: Apache-2.0
// Eager frames, until a message has met its receive. The rest is in receive_matched.cpp; the short
// path of a whole message in small_message.cpp.
//
//   SENDER                                  RECEIVER
//   eager (whole, or the beginning) ------> on_message: matched, or unexpected
//   more ...                        ------> on_more
//                    <--------------------- credit, in any frame, once it is matched
//                    <--------------------- matched, if the send is synchronous
#include <algorithm>
#include <utility>

#include <weft/detail/value_ops.hpp>

#include "proto/messenger/messenger.hpp"

namespace weft::proto {

using detail::match_operation;

received inbound_message::about() const noexcept { return {from->id(), {tag}, total, immediate}; }

/// The receive for a message, if one waits. Probes that were posted before the receive end with the
/// message.
recv_operation* receiver::take_receive(const received& what) noexcept {
  messenger& owner = connection_->owner();
  match_operation* m = owner.table().take_match(peer_, what.tag.value);
  for (; m && m->probe(); m = owner.table().take_match(peer_, what.tag.value)) {
    m->got = what;
    owner.engine().end(*m);
  }
  if (!m) return nullptr;
  if (runtime::call_tree* const tree = owner.engine().trace().tree()) [[unlikely]]
    tree->note("matched", {});
  if (m->early()) [[unlikely]]
    peer_->early()->matched(*m);
  return static_cast<recv_operation*>(m);
}

/// Makes the memory of a receive that waited for its message to know how much it needs. \return
/// false: the receive has ended, and does not want the message
bool receiver::make_room(recv_operation& op, const received& what) noexcept {
  const errc refusal = detail::make_room(op, what.size);
  if (refusal == errc::ok) [[likely]]
    return true;
  op.got = what;
  connection_->owner().engine().end(op, refusal);
  return false;
}

/// Null: no memory. \param number the peer's number of the message, or 0
inbound_message* receiver::take_inbound(local_id number) noexcept {
  inbound_message* m = nullptr;
  try {
    m = &connection_->owner().messages().take();
    if (number != 0) numbered_.add(number, *m);
    return m;
  } catch (const std::bad_alloc&) {
    if (m) connection_->owner().messages().give_back(*m);
    return nullptr;
  }
}

/// Takes a whole message if its receive waits: nothing is stored. \return false: no receive waits
bool receiver::take_whole(const frame_header& h, std::uint64_t immediate,
                          const std::byte* data) noexcept {
  const received what{connection_->id(), {h.tag}, h.size, immediate};
  recv_operation* const op = take_receive(what);
  if (!op) return false;
  writer_->flow().pass(units_of(h.size));
  if (!make_room(*op, what)) {
    ++connection_->owner().counts().messages_dropped;
  } else {
    count(h.size);
    transports::scatter pieces(op->into.parts());
    copy_in(pieces, data, h.size);
    op->got = what;
    connection_->owner().engine().end(*op, h.size > op->into.size() ? errc::truncated : errc::ok);
  }
  if (writer_->flow().must_return()) writer_->return_credit();
  return true;
}

/// Whether the payload of a message may come without an answer to its request.
bool receiver::may_follow(const frame_header& h, const frame_extension& x) const noexcept {
  return h.size == 0 && (h.flags & eager_ends) != 0 && h.tag < first_reserved_tag &&
         (x.a & size_mask) != 0 && peer_->early() && peer_->early()->has_announced(x.b);
}

/// Takes the first frame of a message.
bool receiver::on_message(const frame_header& h, const frame_extension* x,
                          const std::byte* data) noexcept {
  const bool rendezvous = h.kind == static_cast<std::uint8_t>(frame_kind::rts);
  const std::uint64_t total = x ? x->a & size_mask : h.size;
  const std::uint32_t units = units_of(h.size);
  if (current_ || h.size > total || total > max_message || (rendezvous && !x) ||
      units > writer_->flow().usable() || (h.size != 0 && !data))
    return false;
  if (!rendezvous &&
      (total > std::uint64_t{writer_->flow().usable() - message_units} * credit_unit ||
       ((h.flags & eager_ends) != 0 && h.size != total)))
    return false;
  const bool early = rendezvous && (h.flags & payload_follows) != 0;
  if (early && !may_follow(h, *x)) return false;
  const bool call = is_call(h.tag);
  if (is_whole(h, x)) {
    if (call) [[unlikely]] {
      const taking how = take_whole_call(h, x ? x->immediate : 0, data);
      if (how != taking::keep) return how == taking::done;
    } else if (take_whole(h, x ? x->immediate : 0, data)) {
      return true;
    }
  }
  // A peer that numbers a message waits for its answer before it gives the number to another one.
  const auto number = static_cast<local_id>(!x ? 0 : rendezvous ? x->a >> 48 : x->b);
  if (number == 0 ? rendezvous : numbered_.find(number) != nullptr) return false;

  inbound_message* const memory = take_inbound(number);
  if (!memory) {
    peer_->fail(errc::out_of_memory, "no memory to note that a message has begun");
    return true;
  }
  writer_->flow().hold(units);
  inbound_message& in = *memory;
  const std::uint64_t immediate = x ? x->immediate : 0;
  const received what{connection_->id(), {h.tag}, total, immediate};
  recv_operation* receive = nullptr;
  if (!call) {
    connection_->owner().table().note_arrival(in);
    receive = take_receive(what);
    in.given_up = receive ? !make_room(*receive, what) : is_revoked(h.tag);
  } else if (const call_tag t = unpack_call(h.tag); !is_valid(t, immediate)) {
    return refuse_message(in, number, units);
  } else if (is_answer(t)) {
    if (!connection_->owner().calls().on_long_reply(*peer_, t, total, receive))
      return refuse_message(in, number, units);
    in.given_up = !receive;
  } else if (t.kind == call_kind::item) {
    if (!connection_->owner().calls().on_item(*peer_, t, in.given_up))
      return refuse_message(in, number, units);
  }
  if (in.given_up) receive = nullptr;
  in.from = peer_;
  in.tag = h.tag;
  in.immediate = immediate;
  in.total = total;
  in.eager_units = units;
  in.rendezvous = rendezvous;
  in.sender_id = number;
  if (early) {
    // A payload that comes before its receive is asked for later, as without `early`.
    in.early = receive != nullptr;
    if (!receive && !in.given_up) ++connection_->owner().counts().rendezvous_early_lost;
  } else if (rendezvous && x->b != 0) {
    in.readable = true;
    in.at = remote_address::unpack(x->b);
  }
  // How much comes without a request is bounded by the credit that the peer has left.
  const bool ends = (h.flags & eager_ends) != 0;
  const std::uint64_t may_follow = ends ? 0 : std::uint64_t{writer_->flow().usable()} * credit_unit;
  in.stored_size = std::min(total, h.size + may_follow);
  if (receive)
    in.match(*receive);
  else if (!in.given_up && !keep_unexpected(in))
    return true;
  in.take(data, h.size);
  if (!ends) current_ = &in;
  in.eager_done = ends;
  if (rendezvous && rendezvous_->measures())
    in.requested_at = in.begun_at = connection_->owner().engine().now();
  if (rendezvous && (h.flags & starved) != 0) writer_->grow_window();
  if (!in.unexpected())
    on_matched(in);
  else if (call && (rendezvous || in.complete()))
    connection_->owner().calls().on_stored(in);
  return true;
}

/// A message that no correct peer sends, before anything else knows of it. \return false
bool receiver::refuse_message(inbound_message& m, local_id number, std::uint32_t units) noexcept {
  writer_->flow().forget(units);
  if (number != 0) numbered_.erase(number);
  m.given_up = true;  // it was not charged to the budget
  connection_->owner().messages().give_back(m);
  return false;
}

receiver::taking receiver::take_whole_call(const frame_header& h, std::uint64_t immediate,
                                           const std::byte* data) noexcept {
  // Counted first, so that a reply that leaves at once returns the credit.
  writer_->flow().pass(units_of(h.size));
  switch (connection_->owner().calls().on_whole(*peer_, unpack_call(h.tag), immediate,
                                                {data, h.size})) {
    case call_table::verdict::taken:
      count(h.size);
      if (writer_->flow().must_return()) writer_->return_credit();
      return taking::done;
    case call_table::verdict::keep:
      writer_->flow().unpass(units_of(h.size));
      return taking::keep;
    case call_table::verdict::invalid:
      return taking::invalid;
  }
  return taking::invalid;
}

bool receiver::is_revoked(std::uint64_t tag) const noexcept {
  return is_group_message(tag) &&
         connection_->owner().groups().drops(group_of(tag), connection_->id());
}

/// A signal may come between the frames of a message.
bool receiver::on_signal(const frame_header& h, const frame_extension& x) noexcept {
  if (h.size != 0 || x.a < first_signal_tag) return false;
  if (is_revocation(x.a)) {
    connection_->owner().groups().on_revocation(connection_->id(), group_of(x.a),
                                                revocation::unpack(x.b));
    return true;
  }
  if (is_statement(x.a)) {
    const auto use = static_cast<statement_use>(call_mask - (x.a & call_mask));
    connection_->owner().groups().on_statement(connection_->id(), group_of(x.a),
                                               {use, x.b, x.immediate});
    return true;
  }
  const received what{connection_->id(), {x.a}, 0, x.b};
  if (recv_operation* const receive = take_receive(what)) {
    receive->got = what;
    ++connection_->owner().counts().messages_received;
    connection_->owner().engine().end(*receive);
    return true;
  }
  if (signals_ == most_signals) return false;
  inbound_message* const in = take_inbound(0);
  if (!in) {
    peer_->fail(errc::out_of_memory, "no memory for a signal that nobody waits for yet");
    return true;
  }
  in->from = peer_;
  in->tag = x.a;
  in->immediate = x.b;
  in->total = 0;
  in->eager_done = in->is_signal = true;
  ++signals_;
  connection_->owner().table().add(*in);
  if (is_group_signal(x.a)) connection_->owner().groups().on_unexpected(*peer_, x.a);
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
  m->take(data, h.size);
  if (ends) {
    current_ = nullptr;
    m->eager_done = true;
    if (m->requested_at != detail::time_point{}) m->begun_at = connection_->owner().engine().now();
    connection_->owner().memory().trim(*m);
  }
  if (m->unexpected()) {
    m->eager_units += units;
    if (ends && m->is_call && !m->rendezvous) connection_->owner().calls().on_stored(*m);
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
    connection_->owner().calls().take_back(*m);
  else
    connection_->owner().table().remove(*m);
  if (m == current_) current_ = nullptr;
  writer_->release_credit(m->eager_units);
  release(*m);
  writer_->send_control(frame_kind::cancelled, x.a);
  return true;
}

bool receiver::keep_unexpected(inbound_message& m) noexcept {
  messenger& owner = connection_->owner();
  owner.engine().trace().instant(runtime::trace::kind::unexpected, connection_->id(), m.total);
  m.is_call = m.claimed = is_call(m.tag);
  const bool known = !m.is_call || owner.calls().on_begun(*peer_, unpack_call(m.tag));
  ++owner.counts().unexpected_messages;
  if (!known || !owner.memory().store(m)) {
    writer_->flow().forget(m.eager_units);
    release(m);
    peer_->fail(errc::out_of_memory, "no memory for a message that nobody waits for");
    return false;
  }
  if (!m.is_call) owner.table().add(m);
  if (is_group_message(m.tag)) owner.groups().on_unexpected(*peer_, m.tag);
  return true;
}

}  // namespace weft::proto
