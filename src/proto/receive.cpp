// SPDX-License-Identifier: Apache-2.0
// Receiving: frames in, until a message has met its receive. The rest is in receive_matched.cpp.
#include <algorithm>

#include "proto/messenger.hpp"
#include "proto/multi_rail_link.hpp"
#include "proto/rma.hpp"
#include "runtime/small_copy.hpp"

namespace weft::proto {

using detail::match_operation;
using detail::recv_operation;
using runtime::trace;

namespace {
/// An eager message that has an extension for nothing but its immediate word.
bool is_whole(const frame_header& h, const frame_extension& x) noexcept {
  return x.a == h.size && x.b == 0 && (h.flags & eager_ends) != 0;
}

/// Whether a fragment may be part of that message. Which bytes have come is not looked at: a peer
/// that sends some twice and others never harms nothing but its own message.
bool fits(const inbound_message& m, const frame_header& h, const frame_extension& x) noexcept {
  return m.eager_done && h.size != 0 && x.b <= m.total && h.size <= m.total - x.b &&
         h.size <= m.total - m.arrived;
}
}  // namespace

received inbound_message::about() const noexcept { return {from->id(), {tag}, total, immediate}; }

/// The receive for a message, if one waits. Probes that were posted before it learn of the message.
recv_operation* peer::take_receive(const received& what) noexcept {
  match_operation* m = owner_.table().take_match(this, what.tag.value);
  for (; m && m->probe; m = owner_.table().take_match(this, what.tag.value)) {
    m->got = what;
    owner_.engine().end(*m);
  }
  return static_cast<recv_operation*>(m);
}

/// The receive has all of its message, which is accounted for here.
inline void peer::fill_small(const frame_header& h, const frame_extension* x,
                             recv_operation& op) noexcept {
  op.got = {id_, {h.tag}, h.size, x ? x->immediate : 0};
  metrics& counts = owner_.counts();
  ++counts.messages_received;
  counts.bytes_received += h.size;
  flow_.pass(units_of(h.size));
}

/// Credit in both directions, after a message of one frame.
bool peer::settle_credit(std::uint16_t returned) noexcept {
  if (flow_.must_return()) return_credit();
  if (returned != 0) on_credit(returned);
  return true;
}

/// Only what is certain to be taken: the rest of a message that has met its receive.
mutable_buffer peer::place(const frame_header& h, const frame_extension* x,
                           std::uint32_t already) noexcept {
  if (state_ == state::lost || state_ == state::closed) return {};
  const auto kind = static_cast<frame_kind>(h.kind);
  inbound_message* m = nullptr;
  if (kind == frame_kind::more)
    m = current_;
  else if (kind == frame_kind::data && x)
    m = asked_.find(x->a);
  else if ((kind == frame_kind::put || kind == frame_kind::got) && x && rma_)
    return rma_->place(h, *x, already);
  if (!m || h.size > m->total - m->arrived || already >= h.size) return {};
  if (kind == frame_kind::data && (!m->eager_done || x->b != m->arrived)) return {};
  const mutable_buffer there = m->place(already, h.size - already);
  m->placing = m->placing || !there.empty();
  return there;
}

std::uint64_t peer::under_way() const noexcept {
  const inbound_message* const m = current_ ? current_ : asked_.none() ? nullptr : asked_.any();
  return m ? m->total : 0;
}

/// A whole message whose receive waits, has room for it in one piece, and lives here; whatever is
/// different about one goes to on_any_frame.
template <class Copy>
inline bool peer::on_awaited(const frame_header& h, const frame_extension* x, const std::byte* data,
                             Copy copy) noexcept {
  match_operation* const m =
      owner_.table().take_match_if(this, h.tag, [&](const match_operation& found) {
        if (found.probe || found.on) return false;
        const auto& into = static_cast<const recv_operation&>(found).into;
        return into.single() && h.size <= into.front().size();
      });
  if (!m) [[unlikely]]
    return on_any_frame(h, x, data);
  auto& op = static_cast<recv_operation&>(*m);
  copy(op.into.front().data(), data, h.size);
  fill_small(h, x, op);
  owner_.engine().end_at_home(op);
  return !flow_.must_return() && h.credit == 0 ? true : settle_credit(h.credit);
}

/// For most frames, short messages, nothing is called on the way, which spares the saving of
/// registers: a third of the way of a message.
bool peer::on_frame(const frame_header& h, const frame_extension* x,
                    const std::byte* data) noexcept {
  if (!whole_message(h, x) || owner_.engine().trace().on()) [[unlikely]]
    return on_any_frame(h, x, data);
  return h.size <= 64 ? on_awaited(h, x, data, runtime::small_copy) : on_long_frame(h, x, data);
}

[[gnu::noinline]] bool peer::on_long_frame(const frame_header& h, const frame_extension* x,
                                           const std::byte* data) noexcept {
  return on_awaited(h, x, data, std::memcpy);
}

/// Whether a frame is a message that needs neither more frames nor an answer.
inline bool peer::whole_message(const frame_header& h, const frame_extension* x) const noexcept {
  return h.kind == static_cast<std::uint8_t>(frame_kind::eager) && (!x || is_whole(h, *x)) &&
         state_ < state::closed && !current_ && units_of(h.size) <= flow_.usable();
}

bool peer::on_any_frame(const frame_header& h, const frame_extension* x,
                        const std::byte* data) noexcept {
  if (whole_message(h, x)) {
    if (recv_operation* op = take_receive({id_, {h.tag}, h.size, x ? x->immediate : 0})) {
      transports::scatter pieces(op->into.parts());
      copy_in(pieces, data, h.size);
      fill_small(h, x, *op);
      owner_.engine().trace().instant(trace::kind::received, id_, h.size);
      owner_.engine().end(*op, h.size > op->into.size() ? errc::truncated : errc::ok);
      return settle_credit(h.credit);
    }
  }
  const auto kind = static_cast<frame_kind>(h.kind);
  if (state_ == state::closed) {  // a good-bye, or its answer, may still be on the way
    if (kind == frame_kind::bye) return on_bye(x && x->a == bye_answer);
    if (kind == frame_kind::arrived) return x && on_arrived(*x);
  }
  if (gone()) return true;
  if (marked_failure_ == errc::protocol_error) return false;
  if (h.credit != 0) on_credit(h.credit);
  switch (kind) {
    case frame_kind::eager:
    case frame_kind::rts:
      return on_message(h, x, data);
    case frame_kind::more:
      return on_more(h, data);
    case frame_kind::data:
      return x && on_data(h, *x, data);
    case frame_kind::cts:
    case frame_kind::fin_ack:
    case frame_kind::matched:
    case frame_kind::cancelled:
      return x && on_reply(kind, *x);
    case frame_kind::cancel:
      return x && on_cancel(*x);
    case frame_kind::credit:
      return true;
    case frame_kind::stop_data:
      if (x) on_stop_data(*x);
      return x != nullptr;
    case frame_kind::arrived:
      return x && on_arrived(*x);
    case frame_kind::bye:
      return on_bye(x && x->a == bye_answer);
    case frame_kind::fin:
      return x && on_fin(*x);
    case frame_kind::signal:
      return x && on_signal(h, *x);
    case frame_kind::put:
    case frame_kind::get:
    case frame_kind::update:
    case frame_kind::got:
    case frame_kind::accessed:
    case frame_kind::granted:
    case frame_kind::released:
      return x && on_access(kind, h, *x, data);
    case frame_kind::ordered:  // only around others
      return false;
  }
  return false;
}

bool peer::on_arrived(const frame_extension& x) noexcept {
  return multi_rail_link_ && x.immediate <= link_given_up &&
         multi_rail_link_->on_arrived(x.a, x.b, x.immediate == link_given_up);
}

void peer::on_credit(std::uint16_t units) noexcept {
  flow_.add_credit(units);
  if (!write_waiters_.empty()) resume_writers();
}

/// Null: there is no memory for it. \param number by which the peer knows it, or 0
inbound_message* peer::take_incoming(local_id number) noexcept {
  inbound_message* m = nullptr;
  try {
    m = &owner_.messages().take();
    if (number != 0) numbered_.add(number, *m);
    return m;
  } catch (const std::bad_alloc&) {
    if (m) owner_.messages().give_back(*m);
    return nullptr;
  }
}

/// A message begins.
bool peer::on_message(const frame_header& h, const frame_extension* x,
                      const std::byte* data) noexcept {
  const bool rendezvous = h.kind == static_cast<std::uint8_t>(frame_kind::rts);
  const std::uint64_t total = x ? x->a & size_mask : h.size;
  const std::uint32_t units = units_of(h.size);
  if (current_ || h.size > total || total > max_message || (rendezvous && !x) ||
      units > flow_.usable() || (h.size != 0 && !data))
    return false;
  if (!rendezvous && (total > std::uint64_t{flow_.usable() - message_units} * credit_unit ||
                      ((h.flags & eager_ends) != 0 && h.size != total)))
    return false;
  // Who knows a message by a number waits for its answer before another one has that number.
  const auto number = static_cast<local_id>(!x ? 0 : rendezvous ? x->a >> 48 : x->b);
  if (number == 0 ? rendezvous : numbered_.find(number) != nullptr) return false;

  inbound_message* const memory = take_incoming(number);
  if (!memory) {
    fail(errc::out_of_memory, "no memory to note that a message has begun");
    return true;
  }
  flow_.hold(units);
  inbound_message& in = *memory;
  const std::uint64_t immediate = x ? x->immediate : 0;
  recv_operation* receive = take_receive({id_, {h.tag}, total, immediate});
  in.from = this;
  in.tag = h.tag;
  in.immediate = immediate;
  in.total = total;
  in.eager_units = units;
  in.rendezvous = rendezvous;
  in.sender_id = number;
  if (rendezvous && x->b != 0) {
    in.readable = true;
    in.at = remote_address::unpack(x->b);
  }
  // How much of it comes without being asked for is bounded by the credit that the peer has left.
  const bool ends = (h.flags & eager_ends) != 0;
  const std::uint64_t may_follow = ends ? 0 : std::uint64_t{flow_.usable()} * credit_unit;
  in.stored_size = std::min(total, h.size + may_follow);
  if (receive)
    in.match(*receive);
  else if (!keep_unexpected(in))
    return true;
  in.take(data, h.size);
  if (!ends) current_ = &in;
  in.eager_done = ends;
  if (rendezvous && (h.flags & starved) != 0) {
    flow_.peer_waits();
    grow_window();
  }
  if (receive) on_matched(in);
  return true;
}

/// May come between the frames of a message.
bool peer::on_signal(const frame_header& h, const frame_extension& x) noexcept {
  if (h.size != 0 || x.a < first_signal_tag) return false;
  const received what{id_, {x.a}, 0, x.b};
  if (recv_operation* const receive = take_receive(what)) {
    receive->got = what;
    ++owner_.counts().messages_received;
    owner_.engine().end(*receive);
    return true;
  }
  if (signals_ == most_signals) return false;
  inbound_message* const in = take_incoming(0);
  if (!in) {
    fail(errc::out_of_memory, "no memory for a signal that nobody waits for yet");
    return true;
  }
  in->from = this;
  in->tag = x.a;
  in->immediate = x.b;
  in->total = 0;
  in->eager_done = in->is_signal = true;
  ++signals_;
  owner_.table().add(*in);
  return true;
}

bool peer::on_more(const frame_header& h, const std::byte* data) noexcept {
  inbound_message* m = current_;
  const std::uint32_t units = payload_units(h.size);
  const bool ends = (h.flags & eager_ends) != 0;
  if (!m || h.size > m->total - m->arrived || units > flow_.usable() ||
      (ends && !m->rendezvous && m->arrived + h.size != m->total) ||
      (m->unexpected() && m->arrived + h.size > m->stored_size) || !m->comes_as_said(data, h.size))
    return false;
  flow_.hold(units);
  m->take(data, h.size);
  if (ends) {
    current_ = nullptr;
    m->eager_done = true;
    owner_.trim(*m);
  }
  if (m->unexpected()) {
    m->eager_units += units;
  } else {
    add_credit_to_return(units);
    continue_receive(*m);
  }
  return true;
}

bool peer::on_data(const frame_header& h, const frame_extension& x,
                   const std::byte* data) noexcept {
  inbound_message* m = asked_.find(x.a);
  if (!m || !m->eager_done) return false;
  if ((m->given_up || m->stopping) && h.size == 0 && x.b == m->total) {
    if (m->stopping) stop(*m);
    finish_receive(*m);  // the answer to `enough`
    return true;
  }
  if (x.b != m->arrived || h.size > m->total - m->arrived || !m->comes_as_said(data, h.size))
    return false;
  m->take(data, h.size);
  if (m->whole()) finish_receive(*m);
  return true;
}

mutable_buffer peer::place_fragment(const frame_header& h, const frame_extension& x,
                                    std::uint32_t already) noexcept {
  if (gone()) return {};
  const inbound_message* const m = asked_.find(x.a);
  if (!m || !fits(*m, h, x) || already >= h.size) return {};
  return m->place_at(x.b + already, h.size - already);
}

bool peer::on_fragment(const frame_header& h, const frame_extension& x,
                       const std::byte* data) noexcept {
  if (gone()) return true;
  if (h.credit != 0) on_credit(h.credit);
  inbound_message* const m = asked_.find(x.a);
  if (!m || !fits(*m, h, x)) return false;
  m->take_at(x.b, data, h.size);
  if (m->whole()) finish_receive(*m);
  return true;
}

bool peer::on_cancel(const frame_extension& x) noexcept {
  inbound_message* const m = numbered_.find(x.a);
  // Matched meanwhile, or taken by a claim: the sender will see the answer to its message instead.
  if (!m || !m->unexpected() || m->claimed) return true;
  owner_.table().remove(*m);
  if (m == current_) current_ = nullptr;
  add_credit_to_return(m->eager_units);
  release(*m);
  send_control(frame_kind::cancelled, x.a);
  return true;
}

bool peer::keep_unexpected(inbound_message& m) noexcept {
  if (!owner_.store(m)) {
    flow_.forget(m.eager_units);
    release(m);
    fail(errc::out_of_memory, "no memory for a message that nobody waits for");
    return false;
  }
  owner_.table().add(m);
  return true;
}

}  // namespace weft::proto
