// SPDX-License-Identifier: Apache-2.0
// Sending: at once where that is possible, else as a protocol.
#include <algorithm>
#include <utility>

#include "proto/messenger.hpp"
#include "proto/select.hpp"

namespace weft::proto {

using detail::send_mode;
using detail::send_operation;
using runtime::trace;
using transports::gather;
using transports::post;

namespace {

// Enough for any message of one frame.
constexpr std::int64_t most_units_of_small = units_of(one_frame) + credit_reserve;

constexpr std::uint8_t eager_ends_immediate =
    eager_ends | transports::has_extension | transports::has_immediate;

}  // namespace

bool peer::send_order_waiter::await_ready() noexcept {
  if (at.state_ == state::lost || at.state_ == state::closed) return true;
  if (at.send_order_held_ || at.state_ != state::open) return false;
  at.send_order_held_ = true;
  granted = true;
  return true;
}

void peer::send_order_waiter::await_suspend(std::coroutine_handle<> h) noexcept {
  self = h;
  at.turns_.add(*this);
  at.want_link();
}

void peer::release_send_order() noexcept {
  send_order_held_ = false;
  if (turns_.empty() || state_ != state::open) return;
  send_order_held_ = true;
  turns_.resume_first(true);
}

/// Decides how a message goes: whole without being asked for (eager), or a beginning and, after
/// the receiver's answer, the rest (rendezvous).
/// \return whether there is too little credit for what should go at once
bool peer::plan(send_operation& op) noexcept {
  const send_plan chosen =
      plan_send(op.size, owner_.settings().eager_limit, flow_.credit(), inlines_);
  op.rendezvous = chosen.rendezvous;
  op.eager_end = chosen.eager_end;
  return chosen.starved;
}

/// Posts a frame with the credit that is owed to the peer on its back.
/// \param left not 0: bytes of the message that have not left, and the memory of `data` need not be
///   free again at once: the answer may be `posted`
post peer::post_frame(frame_header header, const frame_extension* extension, gather& data,
                      std::uint64_t left) noexcept {
  header.credit = flow_.on_next_frame();
  const post answer = left != 0 ? link_->send_large(header, extension, data, left)
                                : link_->send(header, extension, data);
  if (answer == post::done || answer == post::posted) flow_.returned(header.credit);
  link_full_ = answer == post::busy;
  return answer;
}

/// Sends what goes without being asked for, from op.sent on.
post peer::push_eager(send_operation& op) noexcept {
  const auto& request = op.request;
  // A `cancel` for the message that had this number before must not come after this one.
  if (op.id != 0 && !op.begun && !flush_controls()) return post::busy;
  gather data(request.data.parts(), op.sent);
  do {
    const transports::traits& traits = link_->traits();
    const bool announces = !op.begun && is_announced(traits, op.eager_end);
    const std::uint32_t n = announces ? 0 : next_piece(traits, op.sent, op.eager_end - op.sent);
    frame_header h = header_of(frame_kind::more, request.tag.value, n);
    frame_extension x{};
    const frame_extension* extension = nullptr;
    if (!op.begun) {
      h.kind = static_cast<std::uint8_t>(op.rendezvous ? frame_kind::rts : frame_kind::eager);
      if (op.rendezvous) {
        const rendezvous_send_state& answer = *replies_.find(op.id);
        x.a = std::uint64_t{op.id} << 48 | op.size;
        x.b = answer.exposed ? answer.exposed->packed() : 0;
        if (answer.starved) h.flags |= starved;
      } else {
        x.a = op.size;
        x.b = op.id;
      }
      if (request.immediate != 0) {
        h.flags |= transports::has_immediate;
        x.immediate = request.immediate;
      }
      if (op.rendezvous || op.id != 0 || n != op.size || request.immediate != 0) {
        h.flags |= transports::has_extension;
        extension = &x;
      }
    }
    if (op.sent + n == op.eager_end) h.flags |= eager_ends;
    const post answer = post_frame(h, extension, data, announces ? op.eager_end : 0);
    if (answer != post::done) return answer;
    flow_.spend(op.begun ? payload_units(n) : units_of(n));
    op.begun = true;
    op.sent += n;
  } while (op.sent != op.eager_end);
  return post::done;
}

bool peer::try_send_inline(peer_id to, std::uint64_t tag, const_buffer data,
                           std::uint64_t immediate) noexcept {
  if (to != id_ || data.size() > small_limit_ || !free_to_send() ||
      flow_.credit() < most_units_of_small) [[unlikely]]
    return false;
  const std::uint16_t returned = flow_.on_next_frame();
  const std::uint8_t flags = immediate == 0 ? eager_ends : eager_ends_immediate;
  const frame_header h{tag, static_cast<std::uint32_t>(data.size()),
                       static_cast<std::uint8_t>(frame_kind::eager), flags, returned};
  const frame_extension x{data.size(), 0, immediate};
  if (link_->send_contiguous(h, immediate == 0 ? nullptr : &x, data.data()) != post::done)
    return false;
  flow_.returned(returned);
  flow_.spend(units_of(data.size()));
  metrics& n = owner_.counts();
  ++n.messages_sent;
  n.bytes_sent += data.size();
  owner_.engine().trace().instant(trace::kind::sent, id_, data.size());
  return true;
}

bool peer::start(send_operation& op) noexcept {
  const auto& request = op.request;
  if (request.data.single() && request.mode == send_mode::standard && !op.cancel_requested &&
      try_send_inline(request.to.id, request.tag.value, request.data.front(), request.immediate))
      [[likely]]
    return true;
  if (request.to.id != id_) {
    op.status = owner_.why_gone(request.to.id);
    return true;
  }
  op.size = request.data.size();
  if (op.cancel_requested || op.size > max_message) {
    op.status = op.cancel_requested ? errc::stopped : errc::invalid_argument;
    return true;
  }
  if (free_to_send() && op.request.mode == send_mode::standard) {
    plan(op);
    if (!op.rendezvous) {
      const post answer = push_eager(op);
      if (answer == post::done) {
        metrics& n = owner_.counts();
        ++n.messages_sent;
        n.bytes_sent += op.size;
        owner_.engine().trace().instant(trace::kind::sent, id_, op.size);
        return true;
      }
      if (answer == post::busy) {
        send_order_held_ = true;
        begin_message(op, true);
        return false;
      }
    }
  } else if (closing_ || state_ == state::lost || state_ == state::closed) {
    op.status = why_ == errc::ok ? errc::closed : why_;
    return true;
  } else if (op.request.mode == send_mode::signal && state_ == state::open) {
    send_control(frame_kind::signal, request.tag.value, request.immediate);
    op.begun = true;
    if (state_ == state::open && controls_.empty()) {
      ++owner_.counts().messages_sent;
      return true;
    }
  }
  begin_message(op, false);
  return false;
}

void peer::begin_message(send_operation& op, bool has_turn) noexcept {
  owner_.engine().pending(op);
  const bool signals = op.request.mode == send_mode::signal;
  if ((signals ? send_signal(op) : send_message(op, has_turn)).started) return;
  if (op.begun)
    mark_failed();  // the peer waits for the rest; the turn is kept, so that it gets nothing else
                    // instead
  else if (has_turn)
    release_send_order();
  finish_send(op, errc::out_of_memory);
}

void peer::finish_send(send_operation& op, errc status) noexcept {
  if (status == errc::ok) {
    metrics& n = owner_.counts();
    ++n.messages_sent;
    n.bytes_sent += op.size;
    owner_.engine().trace().instant(trace::kind::sent, id_, op.size);
  }
  owner_.engine().end(op, status);
}

/// Among the control frames, as soon as there is a link: messages that wait for credit, which only
/// the peer's receives can give back, do not hold it up.
protocol_coroutine peer::send_signal(send_operation& op) noexcept {
  const auto self = shared_from_this();  // the endpoint may be dropped meanwhile
  if (!op.begun) {
    want_link();
    while (state_ < state::open && !op.cancel_requested) co_await room();
    op.begun = state_ == state::open && !op.cancel_requested;
    if (op.begun) send_control(frame_kind::signal, op.request.tag.value, op.request.immediate);
  }
  // While it waits for room, the link needs a thread that polls.
  while (op.begun && state_ == state::open && !controls_.empty()) co_await room();
  const bool sent = op.begun && state_ == state::open;
  finish_send(op, sent ? errc::ok : op.cancel_requested ? errc::stopped : why_);
}

/// One message, from waiting for its turn to its end. `has_turn`: the caller took the turn and has
/// begun to send.
protocol_coroutine peer::send_message(send_operation& op, bool has_turn) noexcept {
  const auto self = shared_from_this();  // the endpoint may be dropped meanwhile
  const auto ended_early = [&] { return op.cancel_requested ? errc::stopped : why_; };

  if (!has_turn && !co_await turn(&op)) {
    finish_send(op, ended_early());
    co_return;
  }
  while (!op.begun && !flow_.can_begin_message() && state_ == state::open && !op.cancel_requested)
    co_await room();
  if (state_ != state::open || op.cancel_requested) {
    release_send_order();
    finish_send(op, ended_early());
    co_return;
  }

  rendezvous_send_state answer;
  answer.op = &op;
  if (!op.begun) {
    answer.starved = plan(op);
    const bool needs_answer = op.rendezvous || op.request.mode == send_mode::synchronous;
    if (needs_answer) op.id = replies_.insert(answer);
    while (needs_answer && op.id == 0) {
      // Every number is taken by a message that waits for its answer, or there is no memory for the
      // first.
      if (replies_.none()) mark_failed();
      if (!co_await number() || op.cancel_requested) {
        release_send_order();
        finish_send(op, ended_early());
        co_return;
      }
      op.id = replies_.insert(answer);
    }
    if (op.rendezvous && op.id != 0) {
      owner_.engine().trace().begin(trace::kind::send_rendezvous, id_, op.id, op.size);
      expose(op, answer);
    }
  }
  const auto finish = [&](errc status) {
    if (answer.exposed && state_ == state::open) link_->withdraw(*answer.exposed);
    if (op.id != 0) replies_.erase(op.id);
    if (op.rendezvous && op.id != 0)
      owner_.engine().trace().end(trace::kind::send_rendezvous, id_, op.id);
    const bool free_again = std::exchange(op.id, 0) != 0;  // and may be another message's soon
    finish_send(op, status);
    if (free_again && !numbers_.empty()) numbers_.resume_first(true);
  };
  // To the application a message that its receiver needs no more of is one that was received, also
  // when the receiver has left since.
  const auto cut_short = [&] { return answer.stop_data ? errc::ok : why_; };
  // A link that fails is told of soon, and why: the peer may have left in good order.
  post pushed = post::failed;
  while (state_ == state::open && (pushed = push_eager(op)) != post::done)
    if (!co_await room() || (op.cancel_requested && !op.begun)) break;
  if (pushed != post::done) {
    const bool taken_back = state_ == state::open;
    release_send_order();
    finish(taken_back ? errc::stopped : cut_short());
    co_return;
  }
  release_send_order();
  if (op.id == 0) {
    finish(errc::ok);
    co_return;
  }

  wake_peer();
  if (op.cancel_requested) send_control(frame_kind::cancel, op.id);
  const frame_kind kind = co_await reply_waiter{answer};
  if (kind == frame_kind::cts && op.rendezvous) {
    const std::uint64_t receiver_id = answer.extension.b;
    post put = put_payload(op, answer);
    while (put == post::busy) {
      if (!co_await room()) break;
      put = put_payload(op, answer);
    }
    if (put == post::posted) {
      const bool well = co_await put_waiter{answer};
      put = well ? post::done : post::failed;
    }
    if (put == post::done) {
      if (!answer.told) send_control(frame_kind::fin, receiver_id);
      op.sent = op.size;
    }
    gather data(op.request.data.parts(), op.sent);
    for (std::size_t this_turn = 0;
         op.sent != op.size && !answer.stop_data && state_ == state::open;) {
      const std::uint32_t n = next_piece(link_->traits(), op.sent, op.size - op.sent);
      const frame_extension x{receiver_id, op.sent, 0};
      const post taken = post_frame(header_of(frame_kind::data, 0, n, transports::has_extension),
                                    &x, data, op.size - op.sent);
      if (taken == post::done || taken == post::posted) {
        op.sent += n;
        if ((this_turn += n) < bytes_per_turn || op.sent == op.size) continue;
        this_turn = 0;
        co_await owner_.yield();
      } else if (!co_await room()) {
        break;
      }
    }
    while (state_ == state::open && link_->holds_for(receiver_id))
      if (!co_await room()) break;
    if (answer.stop_data && op.sent != op.size && state_ == state::open) {
      // The receiver's number is free when this has come, behind everything else that names it.
      send_control(frame_kind::data, receiver_id, op.size);
      op.sent = op.size;
    }
    // By then `fail` has made the link let go of it.
    finish(op.sent == op.size ? errc::ok : cut_short());
  } else if (kind == frame_kind::fin_ack || kind == frame_kind::matched) {
    finish(errc::ok);
  } else if (kind == frame_kind::cancelled) {
    finish(errc::stopped);
  } else {
    finish(why_);
  }
}

void peer::cancel(send_operation& op) noexcept {
  if (op.cancel_requested) return;
  op.cancel_requested = true;
  if (op.request.to.id != id_) return;  // it has ended, or will at its start
  if (op.begun) {
    // Only the receiver knows whether it is too late.
    if (op.id != 0 && op.sent >= op.eager_end) send_control(frame_kind::cancel, op.id);
    return;
  }
  const auto waits_for_turn = [&op](waiter& w) {
    return static_cast<send_order_waiter&>(w).op == &op;
  };
  if (waiter* w = turns_.find(waits_for_turn)) {
    turns_.remove(*w);
    w->self.resume();
    return;
  }
  write_waiters_.resume_all(true);  // it may wait for credit
  numbers_.resume_all(true);
}

bool peer::on_reply(frame_kind kind, const frame_extension& x) noexcept {
  rendezvous_send_state* slot = replies_.find(x.a);
  if (!slot) return kind == frame_kind::cancelled;
  if (slot->kind != frame_kind{}) return false;
  const bool fits = kind == frame_kind::cancelled
                        ? slot->op->cancel_requested
                        : slot->op->rendezvous != (kind == frame_kind::matched);
  if (!fits) return false;
  slot->kind = kind;
  slot->extension = x;
  if (slot->waiting) slot->waiting.resume();
  return true;
}

/// May come when everything has left already and the sender's number is another message's: then the
/// receiver's number tells, which it does not use again before all data has come.
void peer::on_stop_data(const frame_extension& x) noexcept {
  rendezvous_send_state* slot = replies_.find(x.a);
  if (slot && slot->kind == frame_kind::cts && slot->extension.b == x.b) slot->stop_data = true;
}

protocol_coroutine peer::say_bye() noexcept {
  const auto self = shared_from_this();
  if (!co_await turn(nullptr)) co_return;
  send_control(frame_kind::bye, good_bye);  // and the turn is kept: nothing is begun any more
}

}  // namespace weft::proto
