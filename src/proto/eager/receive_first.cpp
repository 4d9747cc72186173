// SPDX-License-Identifier: Apache-2.0
// The first frame of a message: decoded, checked, matched, and placed. The frames after it are in
// receive_eager.cpp, the rest from the match on in receive_matched.cpp; the short path of a whole
// message is in small_message.cpp.
//
//   SENDER                                  RECEIVER
//   eager (whole, or the beginning) ------> on_message: matched, or unexpected
//   more ...                        ------> on_more
//                    <--------------------- credit, in any frame, once it is matched
//                    <--------------------- matched, if the send is synchronous
#include <algorithm>

#include <weft/detail/value_ops.hpp>

#include "proto/calls/call_table.hpp"
#include "proto/eager/accept_whole.hpp"
#include "proto/groups/group_table.hpp"
#include "proto/match/match.hpp"
#include "proto/match/unexpected_memory.hpp"
#include "proto/peer/peer.hpp"
#include "runtime/trace/probes.hpp"

namespace weft::proto {

using detail::match_operation;

/// What the first frame of a message says.
struct receiver::first_frame {
  std::uint64_t tag;
  std::uint64_t total;      ///< bytes of the message
  std::uint64_t immediate;  ///< 0: none
  std::uint64_t where;      ///< of a rendezvous: where it can be read; or 0
  std::uint32_t size;       ///< bytes in the frame
  std::uint32_t units;      ///< of credit
  local_id number;          ///< the peer's number of the message; 0: it needs no answer
  bool rendezvous;          ///< the rest waits for an answer
  bool ends;                ///< nothing more comes without one
  bool starved;             ///< with more credit more would have come
  bool whole;               ///< is_whole
  bool call;
  bool lent;  ///< may be read where it lies

  first_frame(const frame_header& h, const frame_extension* x) noexcept
      : tag(h.tag),
        total(x ? x->a & size_mask : h.size),
        immediate(x ? x->immediate : 0),
        size(h.size),
        units(units_of(h.size)),
        rendezvous(h.kind == static_cast<std::uint8_t>(frame_kind::rts)),
        ends((h.flags & eager_ends) != 0),
        starved(rendezvous && (h.flags & proto::starved) != 0),
        whole(is_whole(h, x)),
        call(is_call(h.tag)),
        lent(rendezvous && (h.flags & lends) != 0) {
    where = rendezvous && x ? x->b : 0;
    number = static_cast<local_id>(!x ? 0 : rendezvous ? x->a >> 48 : x->b);
  }
  received about(peer_id from) const noexcept { return {from, {tag}, total, immediate}; }
};

received inbound_message::about() const noexcept { return {from->id(), {tag}, total, immediate}; }

bool receiver::on_message(const frame_header& h, const frame_extension* x,
                          const std::byte* data) noexcept {
  const first_frame f(h, x);
  if (!is_valid(f, data)) return false;
  if (f.whole) {
    const taking how = f.call ? take_whole_call(f, data) : take_whole(f, data);
    if (how != taking::keep) return how == taking::done;
  }
  inbound_message* const m = begin(f);
  if (!m) {
    peer_->give_up(errc::out_of_memory, "no memory to note that a message has begun");
    return true;
  }
  recv_operation* receive = nullptr;
  if (!meet(*m, f, data, receive)) return refuse_message(*m);
  if (receive) {
    runtime::probe::match(connection_->id(), m->tag, m->total, receive);
    m->match(*receive);
  } else if (!m->given_up && !keep_unexpected(*m)) {
    return true;
  }
  m->take(data, f.size);
  if (!f.ends) current_ = m;
  if (f.rendezvous && !m->lent && rendezvous_->measures())
    m->requested_at = m->begun_at = services_->engine.now();
  if (f.starved) writer_->grow_window();
  if (!m->unexpected())
    on_matched(*m);
  else if (f.call && m->is_dispatched())
    calls_->on_stored(*m);
  return true;
}

// --- checked ------------------------------------------------------------------------------------

/// Whether a correct peer may send it. A peer that numbers a message waits for its answer before it
/// gives the number to another one.
bool receiver::is_valid(const first_frame& f, const std::byte* data) const noexcept {
  const std::uint32_t usable = writer_->flow().usable();
  if (current_ || f.size > f.total || f.total > max_message || f.units > usable ||
      (f.size != 0 && !data))
    return false;
  if (!f.rendezvous && (f.total > std::uint64_t{usable - message_units} * credit_unit ||
                        (f.ends && f.size != f.total)))
    return false;
  return f.number == 0 ? !f.rendezvous : numbered_.find(f.number) == nullptr;
}

// --- matched, whole -----------------------------------------------------------------------------

/// Takes a whole message if its receive waits: nothing is stored.
receiver::taking receiver::take_whole(const first_frame& f, const std::byte* data) noexcept {
  const received what = f.about(connection_->id());
  recv_operation* const op = take_receive(what);
  if (!op) return taking::keep;
  if (make_room(*op, what)) {
    runtime::probe::match(what.source, f.tag, f.size, op);
    accept_whole(*op, what, connection_->traffic(), writer_->flow());
    transports::scatter pieces(op->into.parts());
    copy_in(pieces, data, f.size);
    note_received(f.size);
    runtime::probe::complete(runtime::probe::way::receive, what.source, f.tag, f.size, op);
    services_->engine.end(*op, f.size > op->into.size() ? errc::truncated : errc::ok);
  } else {
    writer_->flow().pass(f.units);
    ++services_->counts.messages_dropped;
  }
  writer_->settle();
  return taking::done;
}

receiver::taking receiver::take_whole_call(const first_frame& f, const std::byte* data) noexcept {
  // Counted first, so that a reply that leaves at once returns the credit.
  writer_->flow().pass(f.units);
  switch (calls_->on_whole(*peer_, unpack_call(f.tag), f.immediate, {data, f.size})) {
    case call_table::verdict::taken:
      count(f.size);
      writer_->settle();
      return taking::done;
    case call_table::verdict::keep:
      writer_->flow().unpass(f.units);
      return taking::keep;
    case call_table::verdict::invalid:
      break;
  }
  return taking::invalid;
}

// --- matched, or unexpected ---------------------------------------------------------------------

/// A message that is not simply taken. Null: no memory.
inbound_message* receiver::begin(const first_frame& f) noexcept {
  inbound_message* const m = take_inbound(f.number);
  if (!m) return nullptr;
  writer_->flow().hold(f.units);
  m->from = peer_;
  m->tag = f.tag;
  m->immediate = f.immediate;
  m->total = f.total;
  m->eager_units = f.units;
  m->rendezvous = f.rendezvous;
  m->sender_id = f.number;
  m->eager_done = f.ends;
  if (f.rendezvous && f.where != 0) {
    m->readable = true;
    m->lent = f.lent && f.size == 0 && f.ends;
    m->at = remote_address::unpack(f.where);
  }
  // How much comes without a request is bounded by the credit that the peer has left.
  const std::uint64_t may_come = f.ends ? 0 : std::uint64_t{writer_->flow().usable()} * credit_unit;
  m->stored_size = std::min(f.total, f.size + may_come);
  return m;
}

/// Finds what a message is for. \param receive null: it is unexpected, or given up
/// \return false: no correct peer sends it
bool receiver::meet(inbound_message& m, const first_frame& f, const std::byte* data,
                    recv_operation*& receive) noexcept {
  if (!f.call) {
    const received what = f.about(connection_->id());
    services_->matcher.note_arrival(m);
    receive = take_receive(what);
    m.given_up =
        receive ? !(m.lent && receive->view) && !make_room(*receive, what) : is_revoked(f.tag);
    if (m.given_up) receive = nullptr;
    return true;
  }
  const call_tag t = unpack_call(f.tag);
  if (!proto::is_valid(t, f.immediate)) return false;
  if (is_answer(t)) {
    if (!calls_->on_long_reply(*peer_, t, f.total, {data, f.size}, receive)) return false;
    m.given_up = !receive;
  } else if (t.kind == call_kind::item) {
    return calls_->on_item(*peer_, t, m.given_up);
  }
  return true;
}

/// The receive for a message, if one waits. Probes that were posted before the receive end with the
/// message.
recv_operation* receiver::take_receive(const received& what) noexcept {
  match_operation* m = services_->matcher.take_match(peer_, what.tag.value);
  for (; m && m->probe(); m = services_->matcher.take_match(peer_, what.tag.value)) {
    m->got = what;
    services_->engine.end(*m);
  }
  if (!m) return nullptr;
  if (runtime::call_tree* const tree = services_->engine.trace().tree()) [[unlikely]]
    tree->note("matched", {});
  return static_cast<recv_operation*>(m);
}

/// Makes the memory of a receive that waited for its message to know how much it needs. \return
/// false: the receive has ended, and does not want the message
bool receiver::make_room(recv_operation& op, const received& what) noexcept {
  const errc refusal = detail::make_room(op, what.size);
  if (refusal == errc::ok) [[likely]]
    return true;
  op.got = what;
  services_->engine.end(op, refusal);
  return false;
}

/// Null: no memory. \param number the peer's number of the message, or 0
inbound_message* receiver::take_inbound(local_id number) noexcept {
  inbound_message* m = nullptr;
  try {
    m = &services_->messages.take();
    if (number != 0) numbered_.add(number, *m);
    return m;
  } catch (const std::bad_alloc&) {
    if (m) services_->messages.give_back(*m);
    return nullptr;
  }
}

bool receiver::is_revoked(std::uint64_t tag) const noexcept {
  return is_group_message(tag) && groups_->drops(group_of(tag), connection_->id());
}

/// A message that no correct peer sends, before anything else knows of it. \return false
bool receiver::refuse_message(inbound_message& m) noexcept {
  writer_->flow().forget(m.eager_units);
  free_number(m);
  m.given_up = true;  // it was not charged to the budget
  services_->messages.give_back(m);
  return false;
}

bool receiver::keep_unexpected(inbound_message& m) noexcept {
  services_->engine.trace().instant(runtime::trace::kind::unexpected, connection_->id(), m.total);
  m.is_call = m.claimed = is_call(m.tag);
  const bool known = !m.is_call || calls_->on_begun(*peer_, unpack_call(m.tag));
  ++services_->counts.unexpected_messages;
  if (!known || !services_->memory.store(m)) {
    writer_->flow().forget(m.eager_units);
    release(m);
    peer_->give_up(errc::out_of_memory, "no memory for a message without a receive");
    return false;
  }
  if (!m.is_call) services_->matcher.add(m);
  if (is_group_message(m.tag)) groups_->on_unexpected(*peer_, m.tag);
  return true;
}

}  // namespace weft::proto
