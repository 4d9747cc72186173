// SPDX-License-Identifier: Apache-2.0
// Access to memory: the initiator.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "proto/rma/rma.hpp"
#include "proto/select/scheme_costs.hpp"

namespace weft::proto {

using detail::rma_kind;
using detail::rma_operation;
using detail::rma_refusal;
using detail::rma_request;
using transports::gather;
using transports::post;

namespace {

/// Whether the request is valid for any peer.
bool makes_sense(const rma_request& o) noexcept {
  return o.where.key != 0 && size_of(o) <= o.where.size && o.where.offset <= size_mask &&
         o.where.size <= size_mask - o.where.offset;
}

errc meaning_of(rma_refusal why) noexcept {
  switch (why) {
    case rma_refusal::none:
      return errc::ok;
    case rma_refusal::misaligned:
      return errc::invalid_argument;
    case rma_refusal::unheard:
      return errc::out_of_memory;
    default:
      return errc::refused;
  }
}

}  // namespace

rma_initiator::stopped_operation::stopped_operation() noexcept
    : rma_operation({nullptr, rma_kind::put, {}}, [](operation&) noexcept {}) {}

bool rma_initiator::start(rma_operation& op) noexcept {
  if (op.cancel_requested || !makes_sense(op.order)) {
    op.status = op.cancel_requested ? errc::stopped : errc::invalid_argument;
    return true;
  }
  services_->engine.pending(op);
  ++under_way_;
  go_on(op);
  return false;
}

/// Starts the access at once if that is possible, else as a protocol.
void rma_initiator::go_on(rma_operation& op) noexcept {
  if (writer_->is_writable() && take_number(op) && push(op) == post::done) {
    writer_->wake_peer();
    return;
  }
  if (!pursue(op).started) give_up(op, errc::out_of_memory);
}

protocol_coroutine rma_initiator::pursue(rma_operation& op) noexcept {
  const auto alive = connection_->keep_alive();
  connection_->want_link();
  while (connection_->now() < peer_connection::state::open && !op.cancel_requested)
    co_await writer_->space();
  while (connection_->is_open() && !op.cancel_requested && !take_number(op))
    co_await queue_waiter(numbers_);
  post pushed = post::failed;
  while (connection_->is_open() && !op.cancel_requested && pushed != post::done) {
    pushed = push(op);
    if (pushed == post::posted) {
      co_await services_->upkeep.yield();
    } else if (pushed != post::done) {
      // A link that has failed is reported soon, with the reason.
      if (!co_await writer_->space()) break;
    }
  }
  if (pushed == post::done)
    writer_->wake_peer();
  else
    give_up(op, op.cancel_requested ? errc::stopped : connection_->why());
}

bool rma_initiator::take_number(rma_operation& op) noexcept {
  if (op.id == 0 && asked_.size() < most_outstanding_rma) op.id = asked_.insert(op);
  if (op.id == 0 && asked_.none()) connection_->mark_failed();  // no memory for the first one
  return op.id != 0;
}

/// A long access that the link could copy by itself needs a grant of the peer.
bool rma_initiator::asks_first(const rma_operation& op) const noexcept {
  const messenger_settings& chosen = services_->settings;
  const std::size_t size = size_of(op.order);
  const std::size_t at_once = chosen.eager_limit_over(connection_->link()->traits());
  if (op.by_frames || size <= at_once) return false;
  if (op.order.kind == rma_kind::get) return link_reads(remote_address{}, size);
  return takes_write(chosen.rendezvous) &&
         (chosen.rendezvous == rendezvous_scheme::put || connection_->link()->prefers_put(size));
}

/// Where it depends on the machine, messages have measured which is cheaper. A link that reads
/// needs no help of the peer, so it does until they have.
bool rma_initiator::link_reads(remote_address from, std::size_t size) const noexcept {
  const rendezvous_scheme wanted = services_->settings.rendezvous;
  if (wanted != rendezvous_scheme::automatic) return wanted == rendezvous_scheme::get;
  const transports::link& link = *connection_->link();
  switch (link.prefers_get(from, size)) {
    case transports::preference::yes:
      return true;
    case transports::preference::no:
      return false;
    case transports::preference::measured:
      break;
  }
  const scheme_costs& costs = services_->costs.of(link.traits().name);
  const double frames = costs.cost(payload_scheme::frames, size);
  return frames == 0 || frames >= costs.cost(payload_scheme::get, size);
}

/// \return done: the access has left; posted: others have their turn now; busy, failed as with a
///   link
post rma_initiator::push(rma_operation& op) noexcept {
  // The last frame about the previous holder of this number must not come after this one.
  if (!writer_->flush()) return post::busy;
  const rma_request& o = op.order;
  const bool asks = op.asks = asks_first(op);
  if (o.kind == rma_kind::put && !asks) return push_put(op);
  frame_header h = header_of(frame_kind::put, o.where.key, 0, transports::has_extension);
  frame_extension x{std::uint64_t{op.id} << 48 | o.where.offset, size_of(o), 0};
  if (asks) h.flags |= access_asks;
  if (o.kind == rma_kind::get) {
    h.kind = static_cast<std::uint8_t>(frame_kind::get);
  } else if (o.kind != rma_kind::put) {
    h.kind = static_cast<std::uint8_t>(frame_kind::update);
    x.b = o.operand;
    if (o.kind == rma_kind::compare_swap) {
      h.flags |= access_swaps | transports::has_immediate;
      x.immediate = o.expected;
    }
  }
  gather nothing;
  const post taken = writer_->post(h, &x, nothing);
  op.asked = taken == post::done;
  return taken;
}

post rma_initiator::push_put(rma_operation& op) noexcept {
  const rma_request& o = op.order;
  gather data({&o.data, 1}, op.done);
  std::size_t this_turn = 0;
  do {
    if (this_turn >= bytes_per_turn) return post::posted;
    const std::uint32_t n =
        next_piece(connection_->link()->traits(), op.done, o.data.size() - op.done);
    frame_header h = header_of(frame_kind::put, o.where.key, n, transports::has_extension);
    const std::size_t rest = o.data.size() - op.done - n;
    frame_extension x{std::uint64_t{op.id} << 48 | (o.where.offset + op.done), rest, 0};
    const bool last = rest == 0;
    if (op.done != 0) h.flags |= access_continues;
    if (last) h.flags |= access_ends;
    if (last && o.then) {
      h.flags |= access_notifies | transports::has_immediate;
      x.immediate = o.then->value;
    }
    const post taken = writer_->post(h, &x, data);
    if (taken != post::done) return taken;
    op.done += n;
    this_turn += n;
    op.asked = last;
  } while (!op.asked);
  return post::done;
}

void rma_initiator::cancel(rma_operation& op) noexcept {
  if (std::exchange(op.cancel_requested, true) || op.order.to.id != connection_->id()) return;
  if (op.held_by_link) {
    op.stopped_at = services_->upkeep.note_stop();
    return;
  }
  if (op.asked && op.id != 0) {
    // The peer may still do it, but no operation waits for the answer.
    asked_.replace(op.id, stopped_);
    op.id = 0;
    end(op, errc::stopped);
    return;
  }
  writer_->resume_all(true);
  numbers_.resume_all(true);
}

detail::time_point rma_initiator::oldest_stop() const noexcept {
  auto oldest = detail::time_point::max();
  for_each([&oldest](const rma_operation& op) {
    if (op.held_by_link && op.cancel_requested) oldest = std::min(oldest, op.stopped_at);
  });
  return oldest;
}

/// Ends an operation that was not sent, or whose grant has to be released.
void rma_initiator::give_up(rma_operation& op, errc status) noexcept {
  if (op.granted) writer_->send_control(frame_kind::released, op.id);
  finish(op, status);
}

void rma_initiator::finish(rma_operation& op, errc status) noexcept {
  if (status == errc::ok) {
    traffic_metrics& n = connection_->traffic();
    ++n.rma_started;
    n.bytes_put += op.order.data.size();
    n.bytes_got += op.order.into.size();
    if (op.next_step && op.next_step(op)) return begin_again(op);
  }
  const std::uint16_t id = std::exchange(op.id, 0);
  end(op, status);
  if (id != 0) free_number(id);
}

/// The next step, whose bytes and answers are its own.
void rma_initiator::begin_again(rma_operation& op) noexcept {
  const std::uint16_t id = std::exchange(op.id, 0);
  op.done = 0;
  op.asked = op.asks = op.granted = op.by_frames = false;
  free_number(id);
  go_on(op);
}

void rma_initiator::end(rma_operation& op, errc status) noexcept {
  --under_way_;
  services_->engine.end(op, status);
}

void rma_initiator::free_number(std::uint16_t id) noexcept {
  asked_.erase(id);
  if (!numbers_.empty()) numbers_.resume_first(true);
}

/// Whether those bytes are the next ones of the get.
bool rma_initiator::awaits(const rma_operation& op, const frame_header& h,
                           const frame_extension& x) noexcept {
  return op.order.kind == rma_kind::get && op.asked && !op.held_by_link &&
         (x.a & size_mask) == op.done && h.size <= op.order.into.size() - op.done;
}

bool rma_initiator::on_got(const frame_header& h, const frame_extension& x,
                           const std::byte* data) noexcept {
  const auto id = static_cast<std::uint16_t>(x.a >> 48);
  rma_operation* const op = asked_.find(id);
  if (!op) return false;
  const bool ends = (h.flags & access_ends) != 0;
  if (op == &stopped_) {
    if (ends) free_number(id);
    return true;
  }
  const std::span<std::byte> into = op->order.into;
  if (!awaits(*op, h, x) || ends != (op->done + h.size == into.size())) return false;
  if (data && h.size != 0) std::memcpy(into.data() + op->done, data, h.size);
  op->done += h.size;
  if (ends) finish(*op, errc::ok);
  return true;
}

bool rma_initiator::on_accessed(const frame_extension& x) noexcept {
  const auto id = static_cast<std::uint16_t>(x.a);
  const std::uint64_t why = x.a >> 16;
  rma_operation* const op = asked_.find(id);
  if (!op || why > static_cast<std::uint64_t>(rma_refusal::unheard)) return false;
  if (op == &stopped_) {
    free_number(id);
    return true;
  }
  op->refusal = static_cast<rma_refusal>(why);
  const bool well = op->refusal == rma_refusal::none;
  const bool whole = op->done == size_of(op->order) || op->order.kind > rma_kind::get;
  if (!op->asked || op->held_by_link || (well && !whole)) return false;
  op->found = x.b;
  finish(*op, meaning_of(op->refusal));
  return true;
}

/// The link may copy by itself; or, without a place, the bytes of a put have to come in frames.
bool rma_initiator::on_granted(const frame_extension& x) noexcept {
  rma_operation* const op = asked_.find(x.a);
  if (!op) return false;
  if (op == &stopped_) {
    if (x.b != 0) writer_->send_control(frame_kind::released, x.a);
    free_number(static_cast<std::uint16_t>(x.a));
    return true;
  }
  const rma_request& o = op->order;
  if (!op->asked || op->held_by_link || !op->asks || op->granted) return false;
  const remote_address there = remote_address::unpack(x.b);
  const std::size_t size = size_of(o);
  const std::uint64_t cookie = rma_cookie_bit | op->id;
  post taken = post::failed;
  op->granted = x.b != 0;
  if (op->granted && o.kind == rma_kind::put)
    taken = connection_->link()->put(gather({&o.data, 1}), there, size, cookie);
  else if (op->granted && link_reads(there, size))
    taken = connection_->link()->get(transports::scatter({&o.into, 1}), there, size, cookie);
  if (taken == post::done)
    copied(*op);
  else if (taken == post::posted)
    op->held_by_link = true;
  else
    by_frames(*op);
  return true;
}

void rma_initiator::on_transferred(std::uint16_t id, bool well) noexcept {
  rma_operation* const op = asked_.find(id);
  if (!op || !op->held_by_link) return;
  op->held_by_link = false;
  if (op->cancel_requested)
    give_up(*op, errc::stopped);
  else if (well)
    copied(*op);
  else
    by_frames(*op);
}

void rma_initiator::by_frames(rma_operation& op) noexcept {
  op.by_frames = true;
  op.asked = false;
  go_on(op);
}

/// The link has copied: the peer is told now, and answers if it was a put.
void rma_initiator::copied(rma_operation& op) noexcept {
  op.done = size_of(op.order);
  if (op.order.kind == rma_kind::put) return by_frames(op);
  writer_->send_control(frame_kind::released, op.id);
  finish(op, errc::ok);
}

void rma_initiator::fail(errc why) noexcept {
  asked_.erase_if([&](rma_operation& op) {
    if (&op == &stopped_) return true;
    if (!op.asked && !op.held_by_link) return false;  // its protocol ends it
    op.id = 0;
    end(op, why);
    return true;
  });
  numbers_.resume_all(false);
}

mutable_buffer rma_initiator::place(const frame_header& h, const frame_extension& x,
                                    std::uint32_t already) const noexcept {
  const rma_operation* const op = asked_.find(x.a >> 48);
  if (already >= h.size || !op || !awaits(*op, h, x)) return {};
  return op->order.into.subspan(op->done + already, h.size - already);
}

}  // namespace weft::proto
