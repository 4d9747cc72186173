// SPDX-License-Identifier: Apache-2.0
// Access to memory: the side that asks.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "proto/messenger.hpp"
#include "proto/rma.hpp"
#include "proto/select.hpp"

namespace weft::proto {

using detail::rma_kind;
using detail::rma_operation;
using detail::rma_refusal;
using detail::rma_request;
using transports::gather;
using transports::post;

namespace {

constexpr std::uint64_t word_size = sizeof(std::uint64_t);

std::size_t size_of(const rma_request& o) noexcept {
  switch (o.kind) {
    case rma_kind::put:
      return o.data.size();
    case rma_kind::get:
      return o.into.size();
    default:
      return word_size;
  }
}

/// Whether that can be asked of any peer.
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

const char* words_for(rma_refusal why) noexcept {
  switch (why) {
    case rma_refusal::none:
      break;
    case rma_refusal::no_region:
      return "it has no region with that key; regions must live until all have ended that others "
             "do with them";
    case rma_refusal::out_of_bounds:
      return "the region ends before that";
    case rma_refusal::no_right:
      return "the region was not registered for that; see weft::rights";
    case rma_refusal::misaligned:
      return "words for atomics lie on multiples of 8 bytes";
    case rma_refusal::unheard:
      return "it has not taken the notifications that it has; let it take some by "
             "region::notified first";
  }
  return "";
}

}  // namespace

rma::nobody::nobody() noexcept
    : rma_operation({nullptr, rma_kind::put, {}}, [](operation&) noexcept {}) {}

rma::rma(peer& p) noexcept : peer_(p) {}

bool rma::start(rma_operation& op) noexcept {
  if (op.cancel_requested || !makes_sense(op.order)) {
    op.status = op.cancel_requested ? errc::stopped : errc::invalid_argument;
    return true;
  }
  peer_.owner_.engine().pending(op);
  go_on(op);
  return false;
}

/// At once if that is possible, else as a protocol.
void rma::go_on(rma_operation& op) noexcept {
  if (peer_.state_ == peer::state::open && !peer_.link_full_ && take_number(op) &&
      push(op) == post::done) {
    peer_.wake_peer();
    return;
  }
  if (!pursue(op).started) give_up(op, errc::out_of_memory);
}

protocol_coroutine rma::pursue(rma_operation& op) noexcept {
  using state = peer::state;
  const auto self = peer_.shared_from_this();  // the endpoint may be dropped meanwhile
  peer_.want_link();
  while (peer_.state_ < state::open && !op.cancel_requested) co_await peer_.room();
  while (peer_.state_ == state::open && !op.cancel_requested && !take_number(op))
    co_await peer::queue_waiter(numbers_);
  post pushed = post::failed;
  while (peer_.state_ == state::open && !op.cancel_requested && pushed != post::done) {
    pushed = push(op);
    if (pushed == post::posted) {
      co_await peer_.owner_.yield();
    } else if (pushed != post::done) {
      // A link that fails is told of soon, and why.
      if (!co_await peer_.room()) break;
    }
  }
  if (pushed == post::done)
    peer_.wake_peer();
  else
    give_up(op, reason(op));
}

bool rma::take_number(rma_operation& op) noexcept {
  if (op.id == 0 && asked_.size() < most_outstanding_rma) op.id = asked_.insert(op);
  if (op.id == 0 && asked_.none()) peer_.mark_failed();  // no memory for the first one
  return op.id != 0;
}

/// Long ones that the link could copy by itself need the peer's leave.
bool rma::asks_first(const rma_operation& op) const noexcept {
  const messenger_settings& chosen = peer_.owner_.settings();
  const std::size_t size = size_of(op.order);
  if (op.by_frames || size <= chosen.eager_limit) return false;
  if (op.order.kind == rma_kind::get)
    return chosen.rendezvous == rendezvous_scheme::read ||
           (chosen.rendezvous == rendezvous_scheme::automatic &&
            peer_.link_->prefers_get(remote_address{}, size));
  return takes_write(chosen.rendezvous) &&
         (chosen.rendezvous == rendezvous_scheme::write || peer_.link_->prefers_put(size));
}

/// \return done: all of it has left; posted: others have their turn now; busy, failed as with a
/// link
post rma::push(rma_operation& op) noexcept {
  // What was said of the number before must not come after this.
  if (!peer_.controls_.empty() && !peer_.flush_controls()) return post::busy;
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
  const post taken = peer_.post_frame(h, &x, nothing);
  op.asked = taken == post::done;
  return taken;
}

post rma::push_put(rma_operation& op) noexcept {
  const rma_request& o = op.order;
  gather data({&o.data, 1}, op.done);
  std::size_t this_turn = 0;
  do {
    if (this_turn >= bytes_per_turn) return post::posted;
    const std::uint32_t n = next_piece(peer_.link_->traits(), op.done, o.data.size() - op.done);
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
    const post taken = peer_.post_frame(h, &x, data);
    if (taken != post::done) return taken;
    op.done += n;
    this_turn += n;
    op.asked = last;
  } while (!op.asked);
  return post::done;
}

void rma::cancel(rma_operation& op) noexcept {
  op.cancel_requested = true;
  if (op.order.to.id != peer_.id_ || op.held_by_link) return;
  if (op.asked && op.id != 0) {
    // It may still be done there, but whatever the answer is, no operation waits for it.
    asked_.replace(op.id, nobody_);
    op.id = 0;
    peer_.owner_.engine().end(op, errc::stopped);
    return;
  }
  peer_.write_waiters_.resume_all(true);
  numbers_.resume_all(true);
}

/// It has not asked, or was granted what it asked for.
void rma::give_up(rma_operation& op, errc status) noexcept {
  if (op.granted) peer_.send_control(frame_kind::released, op.id);
  finish(op, status);
}

errc rma::reason(const rma_operation& op) const noexcept {
  return op.cancel_requested ? errc::stopped : peer_.why_;
}

void rma::finish(rma_operation& op, errc status) noexcept {
  if (status == errc::ok) {
    metrics& n = peer_.owner_.counts();
    ++n.rma_started;
    n.bytes_put += op.order.data.size();
    n.bytes_got += op.order.into.size();
  }
  const std::uint16_t id = std::exchange(op.id, 0);
  peer_.owner_.engine().end(op, status);
  if (id != 0) free_number(id);
}

void rma::free_number(std::uint16_t id) noexcept {
  asked_.erase(id);
  if (!numbers_.empty()) numbers_.resume_first(true);
}

/// Whether those bytes come next of what was to be read.
bool rma::awaits(const rma_operation& op, const frame_header& h,
                 const frame_extension& x) noexcept {
  return op.order.kind == rma_kind::get && op.asked && !op.held_by_link &&
         (x.a & size_mask) == op.done && h.size <= op.order.into.size() - op.done;
}

bool rma::on_got(const frame_header& h, const frame_extension& x, const std::byte* data) noexcept {
  const auto id = static_cast<std::uint16_t>(x.a >> 48);
  rma_operation* const op = asked_.find(id);
  if (!op) return false;
  const bool ends = (h.flags & access_ends) != 0;
  if (op == &nobody_) {
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

bool rma::on_accessed(const frame_extension& x) noexcept {
  const auto id = static_cast<std::uint16_t>(x.a);
  const std::uint64_t why = x.a >> 16;
  rma_operation* const op = asked_.find(id);
  if (!op || why > static_cast<std::uint64_t>(rma_refusal::unheard)) return false;
  if (op == &nobody_) {
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

/// The link may copy by itself, or (nowhere) the bytes of a put are to come in frames.
bool rma::on_granted(const frame_extension& x) noexcept {
  rma_operation* const op = asked_.find(x.a);
  if (!op) return false;
  if (op == &nobody_) {
    if (x.b != 0) peer_.send_control(frame_kind::released, x.a);
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
    taken = peer_.link_->put(gather({&o.data, 1}), there, size, cookie);
  else if (op->granted && (peer_.owner_.settings().rendezvous == rendezvous_scheme::read ||
                           peer_.link_->prefers_get(there, size)))
    taken = peer_.link_->get(transports::scatter({&o.into, 1}), there, size, cookie);
  if (taken == post::done)
    copied(*op);
  else if (taken == post::posted)
    op->held_by_link = true;
  else
    by_frames(*op);
  return true;
}

void rma::on_transferred(std::uint16_t id, bool well) noexcept {
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

void rma::by_frames(rma_operation& op) noexcept {
  op.by_frames = true;
  op.asked = false;
  go_on(op);
}

/// The link has done it: now the peer is told, which answers if it was a put.
void rma::copied(rma_operation& op) noexcept {
  op.done = size_of(op.order);
  if (op.order.kind == rma_kind::put) return by_frames(op);
  peer_.send_control(frame_kind::released, op.id);
  finish(op, errc::ok);
}

void rma::fail(errc why) noexcept {
  asked_.erase_if([&](rma_operation& op) {
    if (&op == &nobody_) return true;
    if (!op.asked && !op.held_by_link) return false;  // its protocol ends it
    op.id = 0;
    peer_.owner_.engine().end(op, why);
    return true;
  });
  numbers_.resume_all(false);
  for (const auto& [id, g] : grants_) drop(g);
  grants_.clear();
  refused_.clear();
}

}  // namespace weft::proto

namespace weft::detail {

bool rma_operation::start() noexcept {
  if (!order.to.peer) return start_held();
  const runtime::engine::holder hold(order.to.peer->owner().engine());
  return start_held();
}

bool rma_operation::start_held() noexcept {
  if (order.to.peer) return order.to.peer->start(*this);
  status = errc::invalid_argument;
  return true;
}

void rma_operation::cancel() noexcept {
  if (!order.to.peer) return;
  const runtime::engine::holder hold(order.to.peer->owner().engine());
  order.to.peer->cancel(*this);
}

std::string rma_operation::explain() const {
  using proto::messenger;
  if (!order.to.peer) return messenger::names_nobody(0);
  if (refusal != rma_refusal::none)
    return fmt::format("peer {} refused: {}", order.to.id, proto::words_for(refusal));
  if (status == errc::invalid_argument)
    return order.where.key == 0
               ? "this remote_region names no memory; it comes from region::remote of a peer"
               : fmt::format("{} bytes, but the remote_region names {}", proto::size_of(order),
                             order.where.size);
  return messenger::explain(status, order.to, nullptr, 0);
}

}  // namespace weft::detail
