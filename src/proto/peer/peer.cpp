// SPDX-License-Identifier: Apache-2.0
// Hands the frames of a peer to its parts.
#include "proto/peer/peer.hpp"
#include "proto/frames/frame_names.hpp"

#include <new>

#include "proto/calls/call_table.hpp"
#include "proto/peer/peer_registry.hpp"
#include "proto/peer/peer_upkeep.hpp"
#include "proto/peer/protocol_tables.hpp"
#include "proto/rails/multi_rail_link.hpp"
#include "proto/rma/rma.hpp"

namespace weft::proto {

peer::peer(const protocol_services& s, const protocol_tables& t, peer_id id)
    : services_(s),
      tables_(t),
      engine_(s.engine),
      matcher_(s.matcher),
      connection_(*this, s.upkeep, id),
      receiver_(s, t.calls, t.groups, *this, writer_, rendezvous_receiver_, connection_),
      writer_(s, connection_),
      sender_(s, writer_, connection_),
      rendezvous_receiver_(s, receiver_, writer_, connection_) {}

peer::~peer() = default;

/// Takes every frame that the short path (small_message.cpp) does not take, except for fragments
/// over several links (on_fragment).
bool peer::dispatch(const frame_header& h, const frame_extension* x,
                    const std::byte* data) noexcept {
  runtime::call_tree* const tree = engine_.trace().tree();
  if (!tree) [[likely]]
    return take(h, x, data);
  const runtime::step taking(tree, "frame from", subject_of(id(), h, x));
  return take(h, x, data);
}

bool peer::take(const frame_header& h, const frame_extension* x, const std::byte* data) noexcept {
  const auto kind = static_cast<frame_kind>(h.kind);
  if (now() == state::closed) {  // a good-bye, or its answer, may still be under way
    if (kind == frame_kind::bye) return on_bye(x);
    if (kind == frame_kind::arrived) return x && on_arrived(*x);
  }
  if (has_ended()) return true;
  if (connection_.marked_failure() == errc::protocol_error) return false;
  if (h.credit != 0) writer_.on_credit(h.credit);
  switch (kind) {
    case frame_kind::eager:
    case frame_kind::rts:
      return receiver_.on_message(h, x, data);
    case frame_kind::more:
      return receiver_.on_more(h, data);
    case frame_kind::data:
      return x && rendezvous_receiver_.on_data(h, *x, data);
    case frame_kind::fin:
      return x && rendezvous_receiver_.on_fin(*x);
    case frame_kind::signal:
      return x && receiver_.on_signal(h, *x);
    case frame_kind::cancel:
      return x && receiver_.on_cancel(*x);
    case frame_kind::cts:
    case frame_kind::fin_ack:
    case frame_kind::matched:
    case frame_kind::cancelled:
      return x && sender_.on_answer(kind, *x);
    case frame_kind::stop_data:
      if (x) sender_.rendezvous().on_stop_data(*x);
      return x != nullptr;
    case frame_kind::credit:
      return true;
    case frame_kind::arrived:
      return x && on_arrived(*x);
    case frame_kind::bye:
      return on_bye(x);
    case frame_kind::put:
    case frame_kind::get:
    case frame_kind::update:
    case frame_kind::got:
    case frame_kind::accessed:
    case frame_kind::granted:
    case frame_kind::released:
      return x && (!rma_parts() || rma_->on_frame(kind, h, *x, data));
    case frame_kind::call_stop:
      return x && tables_.calls.on_stop(*this, x->a);
    case frame_kind::call_more:
      return x && tables_.calls.on_more(*this, x->a);
    case frame_kind::ordered:  // only around other frames
      return false;
  }
  return false;
}

mutable_buffer peer::place_fragment(const frame_header& h, const frame_extension& x,
                                    std::uint32_t already) noexcept {
  return has_ended() ? mutable_buffer{} : rendezvous_receiver_.place_fragment(h, x, already);
}

bool peer::on_fragment(const frame_header& h, const frame_extension& x,
                       const std::byte* data) noexcept {
  if (has_ended()) return true;
  if (h.credit != 0) writer_.on_credit(h.credit);
  return rendezvous_receiver_.on_fragment(h, x, data);
}

/// Only for bytes that are certain to be taken: the rest of a message that has met its receive, or
/// of an access.
mutable_buffer peer::place(const frame_header& h, const frame_extension* x,
                           std::uint32_t already) noexcept {
  if (has_ended()) return {};
  switch (static_cast<frame_kind>(h.kind)) {
    case frame_kind::more:
      return receiver_.place_more(h, already);
    case frame_kind::data:
      return x ? rendezvous_receiver_.place(h, *x, already) : mutable_buffer{};
    case frame_kind::put:
      return x && rma_ ? rma_->target.place(h, *x, already) : mutable_buffer{};
    case frame_kind::got:
      return x && rma_ ? rma_->initiator.place(h, *x, already) : mutable_buffer{};
    default:
      return {};
  }
}

bool peer::on_arrived(const frame_extension& x) noexcept {
  multi_rail_link* const several = connection_.several();
  return several && x.immediate <= link_given_up &&
         several->on_arrived(x.a, x.b, x.immediate == link_given_up);
}

void peer::on_transferred(std::uint64_t cookie, bool well) noexcept {
  if (has_ended()) return;
  const runtime::step ending(engine_.trace().tree(), "copy has ended, peer", {.peer = id()});
  if ((cookie & rma_cookie_bit) != 0)
    rma_->initiator.on_transferred(static_cast<std::uint16_t>(cookie), well);
  else if ((cookie & put_cookie_bit) != 0)
    sender_.rendezvous().on_transferred(cookie & ~put_cookie_bit, well);
  else
    rendezvous_receiver_.on_transferred(cookie, well);
}

void peer::on_chained(std::uint64_t cookie) noexcept {
  if (has_ended()) return;
  if (runtime::call_tree* const tree = engine_.trace().tree())
    tree->note("chained frame to", {.peer = id()});
  if ((cookie & put_cookie_bit) != 0)
    sender_.rendezvous().on_chained(cookie & ~put_cookie_bit);
  else
    rendezvous_receiver_.on_chained(cookie);
  writer_.wake_peer();
}

/// The link has space, or is new: control frames go first, then messages that have begun, then the
/// next message. The next message gets its turn even if control frames filled a new link: while no
/// send holds the turn, a later message could go first.
void peer::on_writable() noexcept {
  writer_.set_writable();
  if (!connection_.link() || now() == state::lost) return;
  const bool flushed = writer_.flush();
  if (now() != state::open) return;
  if (flushed) {
    rendezvous_receiver_.fetch_waiting();
    writer_.resume();
  }
  if (!sender_.order().held()) sender_.order().release();
}

// --- access to memory ---------------------------------------------------------------------------

/// Null: no memory.
rma* peer::rma_parts() noexcept {
  if (rma_) return rma_.get();
  try {
    rma_ = std::make_unique<rma>(services_, tables_.regions, writer_, connection_);
  } catch (const std::bad_alloc&) {
    connection_.mark_failed();
  }
  return rma_.get();
}

bool peer::start(detail::rma_operation& op) noexcept {
  if (op.order.to.id != id())
    op.status = tables_.peers.why_ended(op.order.to.id);
  else if (connection_.closing() || has_ended() || services_.ending)
    op.status = connection_.refusal();
  else if (rma* const parts = rma_parts())
    return parts->initiator.start(op);
  else
    op.status = errc::out_of_memory;
  return true;
}

void peer::cancel(detail::rma_operation& op) noexcept {
  if (rma_)
    rma_->initiator.cancel(op);
  else
    op.cancel_requested = true;
}

}  // namespace weft::proto
