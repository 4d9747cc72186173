// SPDX-License-Identifier: Apache-2.0
// Loans to peers that share memory: they leave at once, and wait for their answer without a
// coroutine. Where anything has to wait, send_message.cpp sends them as any message.
#include "proto/eager/sender.hpp"
#include "proto/loans/loan_block.hpp"

namespace weft::proto {

using detail::send_mode;
using transports::post;

/// Whether the peer may be able to read it in place: then none of it goes with its request.
bool sender::lends(const send_operation& op) const noexcept {
  return op.request.mode == send_mode::loan && connection_->link()->traits().shares_memory;
}

/// Nothing else is being begun. \return false: it has to wait, and nothing has happened
bool sender::lend(loan_message& l) noexcept {
  if (!writer_->flow().can_begin_message(false)) return false;
  plan(l);
  outbound_message& m = l.outbound;
  m.lent = true;
  if (!rendezvous_.take_number(m)) return false;
  rendezvous_.expose(m);
  if (push_eager(l) != post::done) {
    rendezvous_.end(m);
    return false;
  }
  // As a small message it rings only for a side that sleeps: nothing waits for the answer.
  ++under_way_;
  ++connection_->traffic().loans_sent;
  l.hand_over(errc::ok);
  return true;
}

bool sender::on_answer(frame_kind kind, const frame_extension& x) noexcept {
  outbound_message* const m = rendezvous_.find(x.a);
  return m && m->lent ? on_answer_to_loan(*m, kind, x) : rendezvous_.on_answer(kind, x);
}

bool sender::on_answer_to_loan(outbound_message& m, frame_kind kind,
                               const frame_extension& x) noexcept {
  if (m.answer != frame_kind{}) return false;
  if (kind == frame_kind::fin_ack) {
    finish(m, errc::ok);
    return true;
  }
  if (kind != frame_kind::cts) return false;
  m.answer = kind;
  m.extension = x;
  if (!send_message(*m.op, false, &m).started) connection_->mark_failed();
  return true;
}

}  // namespace weft::proto
