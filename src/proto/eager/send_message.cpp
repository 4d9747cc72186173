// SPDX-License-Identifier: Apache-2.0
// Messages that have to wait: for their turn, for credit or space, or for the receiver's answer.
#include <algorithm>
#include <utility>

#include "proto/eager/sender.hpp"
#include "proto/loans/loan_block.hpp"
#include "proto/select/scheme_costs.hpp"

namespace weft::proto {

using detail::send_mode;
using runtime::trace;
using transports::gather;
using transports::post;

void sender::begin(send_operation& op, bool has_turn) noexcept {
  if (op.request.mode != send_mode::loan) services_->engine.pending(op);
  ++under_way_;
  const bool signals = op.request.mode == send_mode::signal;
  const bool answers = op.request.mode == send_mode::answer;
  if ((signals ? send_signal(op) : send_message(op, has_turn)).started) {
    if (answers && order_.has_answers()) let_answers_go();
    return;
  }
  if (op.begun)  // the peer waits for the rest; the turn is kept, so that no other message begins
    connection_->mark_failed();
  else if (has_turn)
    order_.release();
  finish(op, errc::out_of_memory);
}

/// A message that waits for credit has the turn, which it gives to answers when it is resumed.
void sender::let_answers_go() noexcept {
  const send_operation* const first = order_.holder();
  if (first && !first->begun && !writer_->flow().can_begin_message(false))
    writer_->resume_all(true);
}

bool sender::may_begin(const send_operation& op) const noexcept {
  return connection_->is_open() && !op.cancel_requested;
}

/// The steps of one message, each a line or two: its turn, credit, a number if it needs an answer,
/// eager frames, the answer, and the payload by put or in frames.
/// \param has_turn the caller holds the send order and has begun to send
/// \param answered of a loan that left without a coroutine: its message, which has its answer
protocol_coroutine sender::send_message(send_operation& op, bool has_turn,
                                        outbound_message* answered) noexcept {
  const auto alive = connection_->keep_alive();
  outbound_message m{&op};
  if (answered) {
    m = *answered;
    m.lent = false;
    rendezvous_.move_to(m);
  } else {
    const bool answers = op.request.mode == send_mode::answer;
    if (!has_turn && !co_await order_.acquire(&op, answers)) co_return finish(op, status_early(op));
    order_.note_holder(op);
    while (!op.begun && !writer_->flow().can_begin_message(answers) && may_begin(op)) {
      if (answers || !order_.has_answers()) {
        co_await writer_->space();
      } else {
        if (!co_await order_.let_answers_go(op)) co_return finish(op, status_early(op));
        order_.note_holder(op);
      }
    }

    bool begins = may_begin(op);
    if (begins && !op.begun) {
      m.starved = plan(op);
      const bool needs_answer = op.rendezvous || op.request.mode == send_mode::synchronous;
      while (begins && needs_answer && !rendezvous_.take_number(m))
        begins = co_await rendezvous_.number() && !op.cancel_requested;
      if (begins && op.rendezvous) rendezvous_.expose(m);
    }
    if (!begins) {
      order_.release();
      co_return finish(op, status_early(op));
    }

    // A link that has failed is reported soon, with the reason: the peer may have left in good
    // order.
    post pushed = post::failed;
    while (connection_->is_open() && (pushed = push_eager(op)) != post::done)
      if (!co_await writer_->space() || (op.cancel_requested && !op.begun)) break;
    const bool taken_back = pushed != post::done && connection_->is_open();
    order_.release();
    if (pushed != post::done) co_return finish(m, taken_back ? errc::stopped : status_after(m));
    if (op.id == 0) co_return finish(op, errc::ok);

    writer_->wake_peer();
    if (op.request.mode == send_mode::loan) static_cast<loan_message&>(op).hand_over(errc::ok);
    if (op.cancel_requested) writer_->send_control(frame_kind::cancel, op.id);
  }
  const frame_kind answer = co_await rendezvous_.answer_to(m);
  note_answer(m, answer);
  if (answer != frame_kind::cts || !op.rendezvous) co_return finish(m, status_of(answer));

  post put = rendezvous_.put(m);
  while (put == post::busy) {
    if (!co_await writer_->space()) break;
    put = rendezvous_.put(m);
  }
  if (put == post::posted) put = co_await rendezvous_.written(m);
  if (put == post::done) rendezvous_.has_put(m);

  gather data(op.request.data.parts(), op.sent);
  for (post sent = post::done; (sent = rendezvous_.push_data(m, data)) != post::done;)
    if (sent == post::posted)
      co_await services_->upkeep.yield();
    else if (!co_await writer_->space())
      break;
  while (rendezvous_.is_held(m))
    if (!co_await writer_->space()) break;
  rendezvous_.end_data(m);
  // If the connection has ended, it has made the link let go of the memory by then.
  finish(m, op.sent == op.size ? errc::ok : status_after(m));
}

/// For the choice whether the next message of that size has eager data.
void sender::note_answer(const outbound_message& m, frame_kind answer) noexcept {
  if (!measures_ || !m.op->rendezvous || !connection_->is_open()) return;
  if (answer == frame_kind::fin_ack || answer == frame_kind::cts)
    services_->costs.of(connection_->link()->traits().name)
        .note_answer(m.op->size, answer == frame_kind::fin_ack);
}

/// A signal goes among the control frames, as soon as there is a link: messages that wait for
/// credit, which only the peer's receives can return, do not delay it.
protocol_coroutine sender::send_signal(send_operation& op) noexcept {
  const auto alive = connection_->keep_alive();
  if (!op.begun) {
    connection_->want_link();
    while (connection_->now() < peer_connection::state::open && !op.cancel_requested)
      co_await writer_->space();
    op.begun = may_begin(op);
    if (op.begun)
      writer_->send_control(frame_kind::signal, op.request.tag.value, op.request.immediate);
  }
  // While the frame waits for space, the link needs a thread that polls. The frame does not need
  // the operation.
  while (op.begun && connection_->is_open() && !writer_->controls().empty() && !op.cancel_requested)
    co_await writer_->space();
  finish(op, op.begun && connection_->is_open() ? errc::ok : status_early(op));
}

errc sender::status_early(const send_operation& op) const noexcept {
  return op.cancel_requested ? errc::stopped : connection_->why();
}

/// For the application a message that its receiver needs no more of counts as received, also when
/// the receiver has left since.
errc sender::status_after(const outbound_message& m) const noexcept {
  return m.stop_data ? errc::ok : connection_->why();
}

errc sender::status_of(frame_kind answer) const noexcept {
  switch (answer) {
    case frame_kind::fin_ack:
    case frame_kind::matched:
      return errc::ok;
    case frame_kind::cancelled:
      return errc::stopped;
    default:
      return connection_->why();
  }
}

void sender::finish(send_operation& op, errc status) noexcept {
  --under_way_;
  if (status == errc::ok) count(op);
  if (op.request.mode == send_mode::loan) return static_cast<loan_message&>(op).finish(status);
  services_->engine.end(op, status);
}

/// The number is free again, and may soon belong to another message.
void sender::finish(outbound_message& m, errc status) noexcept {
  const bool freed = rendezvous_.end(m);
  finish(*m.op, status);
  if (freed) rendezvous_.number_freed();
}

void sender::cancel(send_operation& op) noexcept {
  if (op.cancel_requested) return;
  op.cancel_requested = true;
  if (op.request.to.id != connection_->id()) return;  // it has ended, or will at its start
  if (op.begun && op.request.mode == send_mode::signal) return writer_->resume_all(true);
  if (op.begun) {
    // Only the receiver knows whether it is too late.
    op.stopped_at = services_->upkeep.note_stop();
    if (op.id != 0 && op.sent >= op.eager_end) writer_->send_control(frame_kind::cancel, op.id);
    return;
  }
  if (order_.stop(op)) return;
  writer_->resume_all(true);  // it may wait for credit
  rendezvous_.resume_numbers();
}

detail::time_point sender::oldest_stop() const noexcept {
  auto oldest = detail::time_point::max();
  const auto consider = [&oldest](const send_operation& op) {
    if (op.begun && op.cancel_requested) oldest = std::min(oldest, op.stopped_at);
  };
  if (order_.holder()) consider(*order_.holder());
  rendezvous_.for_each([&](const outbound_message& m) { consider(*m.op); });
  return oldest;
}

void sender::fail() noexcept {
  order_.fail();
  writer_->resume_all(false);
  rendezvous_.fail();
  rendezvous_.for_each([this](outbound_message& m) {
    if (m.lent) finish(m, connection_->why());
  });
}

}  // namespace weft::proto
