// SPDX-License-Identifier: Apache-2.0
// The side that calls: a number, the request, and the reply with that number.
//
//   CALLER                                       CALLED
//   start: request                       ------> call_table::on_whole, or on_stored
//     cancel: call_stop                  ------> on_stop: the handler's stop token
//   on_whole, or on_long_reply and then  <------ reply
//   part_ended
#include <fmt/format.h>

#include <algorithm>

#include "proto/calls/value_stream.hpp"
#include "proto/messenger/message_errors.hpp"
#include "proto/peer/peer_registry.hpp"
#include "proto/peer/protocol_tables.hpp"

namespace weft::proto {

using detail::call_operation;

bool call_table::has_ended(const call_operation& op) noexcept {
  return !op.awaits_ && !op.sends_ && !op.lands_;
}

/// Ends the call if nothing of it is in flight.
void call_table::end_if_done(call_operation& op) noexcept {
  if (!has_ended(op) || !std::exchange(op.started_, false)) return;
  if (value_stream* const reader = op.stream()) {
    services_.engine.withdraw(op);
    reader->ended();
  } else {
    services_.engine.end(op, op.status);
  }
}

bool call_table::start(call_operation& op) noexcept {
  peer& p = *op.to_.peer;
  const auto fails = [&op](errc why) {
    op.status = why;
    return true;
  };
  if (op.cancel_requested_) return fails(errc::stopped);
  if (p.id() != op.to_.id) return fails(peers_known_.why_ended(op.to_.id));
  if (p.connection().closing() || p.has_ended() || services_.ending)
    return fails(p.connection().refusal());
  calls_of_peer* const parts = parts_of(p);
  op.id_ = parts ? parts->made.insert(op) : local_id{0};
  if (op.id_ == 0) return fails(errc::out_of_memory);

  const call_kind kind = op.stream() ? call_kind::stream_request : call_kind::request;
  const std::uint64_t tag = call_tag{kind, op.id_, op.number_.number}.packed();
  const std::uint32_t left = op.deadline_ == detail::time_point::max()
                                 ? 0
                                 : pack_remaining(op.deadline_, services_.engine.now());
  const std::uint64_t word = call_word(op.types_ ? op.types_->whole.fingerprint() : 0, left);
  const auto args = op.arguments();
  if (!args.single() || !p.try_send_inline(op.to_.id, tag, args.front(), word)) {
    op.out_.emplace(op, send_request{op.to_, {tag}, args, detail::send_mode::standard, word});
    op.sends_ = !op.out_->start_held();
    if (!op.sends_ && op.out_->status != errc::ok) {
      parts->made.erase(op.id_);
      return fails(op.out_->status);
    }
  }
  op.awaits_ = op.started_ = true;
  services_.engine.pending(op);
  return false;
}

void call_table::cancel(call_operation& op) noexcept {
  if (std::exchange(op.cancel_requested_, true) || !op.started_) return;
  // Also behind the reply: a handler may reply before it has all of its arguments.
  if (op.sends_) op.to_.peer->sender().cancel(*op.out_);
  if (op.awaits_) {
    peer& p = *op.to_.peer;  // not ended: the end of the connection ends the wait
    op.awaits_ = false;
    op.status = errc::stopped;
    p.calls->made.replace(op.id_, p.calls->abandoned);
    // Whether the handler has the call is known there only. Its reply frees the number.
    if (!op.sends_ || op.out_->begun) p.writer().send_control(frame_kind::call_stop, op.id_);
  } else if (op.lands_ && op.in_->message) {
    inbound_message& m = *op.in_->message;
    m.from->receiver().give_up(m);
  }
  end_if_done(op);
}

bool call_table::part_ended(call_operation& op, bool sent) noexcept {
  (sent ? op.sends_ : op.lands_) = false;
  const errc how = sent ? op.out_->status : op.in_->status;
  if (how != errc::ok && op.status == errc::ok) op.status = how;
  peer& p = *op.to_.peer;
  if (sent && how != errc::ok && !op.answered_ && p.id() == op.to_.id && p.calls) {
    // The peer has not seen the call: no reply comes.
    const call_operation* const entry = p.calls->made.find(op.id_);
    if (op.awaits_ || entry == &p.calls->abandoned) p.calls->made.erase(op.id_);
    op.awaits_ = false;
  }
  if (!has_ended(op) || !std::exchange(op.started_, false)) return false;
  services_.engine.withdraw(op);
  return true;
}

void call_table::fail_calls(calls_of_peer& of) noexcept {
  const errc why = of.whose->why();
  of.made.for_each([&](call_operation& op) {
    if (&op == &of.abandoned) return;
    op.awaits_ = false;
    if (op.status == errc::ok) op.status = why;
    end_if_done(op);
  });
  of.made = {};
}

// --- replies -----------------------------------------------------------------------------------

/// Where a reply, or the text of a refusal, goes. If it cannot, the call has that status, and the
/// room is empty.
detail::buffer_list<mutable_buffer> call_table::room_for(call_operation& op, call_tag t,
                                                         std::uint64_t size,
                                                         const_buffer beginning) noexcept {
  ++op.to_.peer->connection().traffic().calls_made;
  op.awaits_ = false;
  op.answered_ = true;
  op.reply_size_ = size;
  const auto said = static_cast<call_status>(t.number);
  if (said == call_status::ok) {
    const call_operation::room r = op.place(size, beginning);
    op.room_ = r.into.size();
    op.status = r.status == errc::truncated ? errc::refused : r.status;
    if (r.status != errc::ok) return mutable_buffer();
    return r.into;
  }
  op.other_types_ = said == call_status::types;
  const bool late = said == call_status::stopped && op.deadline_ != detail::time_point::max();
  op.status = late ? errc::timed_out : said == call_status::closed ? errc::closed : errc::refused;
  try {
    op.text_.resize(std::min<std::uint64_t>(size, longest_refusal));
  } catch (const std::bad_alloc&) {
    // The code tells most of it.
  }
  return mutable_buffer(std::as_writable_bytes(std::span(op.text_)));
}

void call_table::answered(call_operation& op, call_tag t, const_buffer data) noexcept {
  const auto into = room_for(op, t, data.size(), data);
  const std::size_t n = std::min(into.size(), data.size());
  transports::scatter pieces(into.parts());
  transports::copy_in(pieces, data.data(), n);
  if (op.status == errc::ok && n != data.size()) op.status = errc::truncated;
  end_if_done(op);
}

bool call_table::on_long_reply(peer& from, call_tag t, std::uint64_t size, const_buffer beginning,
                               recv_operation*& receive) noexcept {
  call_operation* const op = from.calls ? from.calls->made.find(t.id) : nullptr;
  if (!op) return false;
  from.calls->made.erase(t.id);
  if (op == &from.calls->abandoned) return true;
  const auto into = room_for(*op, t, size, beginning);
  // A text that is too long is cut, and what does not fit is dropped.
  if (into.size() == 0) {
    if (op->status == errc::ok && size != 0) op->status = errc::truncated;
    end_if_done(*op);
    return true;
  }
  op->in_.emplace(*op, recv_request{nullptr, {&from, from.id()}, tag{t.packed()}, into});
  op->lands_ = true;
  services_.engine.pending(*op->in_);
  receive = &*op->in_;
  return true;
}

}  // namespace weft::proto

namespace weft::detail {

using runtime::engine;

tag post_tag(am number) noexcept {
  return {proto::call_tag{proto::call_kind::post, 0, number.number}.packed()};
}

std::uint64_t post_word(const call_signature& types) noexcept {
  return proto::call_word(types.arguments.fingerprint(), 0);
}

bool call_operation::start() noexcept {
  if (!to_.peer) {
    status = errc::invalid_argument;
    return true;
  }
  const engine::holder hold(to_.peer->engine());
  return start_held();
}

bool call_operation::start_held() noexcept {
  if (to_.peer) return to_.peer->tables().calls.start(*this);
  status = errc::invalid_argument;
  return true;
}

void call_operation::cancel() noexcept {
  if (!to_.peer) return;
  const engine::holder hold(to_.peer->engine());
  to_.peer->tables().calls.cancel(*this);
}

/// On the thread that completes this call's operations; an external loop's has the progress lock.
void call_operation::part_ended(bool sent) noexcept {
  bool over = false;
  {
    const engine::completion_holder hold(to_.peer->engine(), *this);
    over = to_.peer->tables().calls.part_ended(*this, sent);
  }
  if (over) complete();
}

std::string call_operation::explain() const {
  if (!to_.peer) return proto::explain_no_peer(0);
  const std::string who = proto::describe(*this);
  if (answered_ && status == errc::timed_out)
    return who + ": the deadline passed, and the handler was stopped";
  if (other_types_ && types_)
    return fmt::format("{}: the handler takes {}, and the call has {}", who, text_,
                       types_->whole.text());
  if (answered_ && !text_.empty()) return fmt::format("{}: {}", who, text_);
  if (answered_ && status == errc::refused && room_ != reply_size_)
    return fmt::format("{}: the reply has {} bytes, and the type of the call takes {}", who,
                       reply_size_, room_);
  if (answered_ && status == errc::refused) return who + ": the call was refused";
  if (status == errc::truncated)
    return fmt::format("{}: the reply has {} bytes, and the buffer {}", who, reply_size_, room_);
  if (answered_ && status == errc::out_of_memory)
    return fmt::format(
        "{}: no memory for a reply of {} bytes; at most {} are taken into memory of "
        "the call's own",
        who, reply_size_, longest_typed_call);
  if (status == errc::out_of_memory)
    return fmt::format("{}: no memory, or {} calls wait for their replies already", who,
                       proto::id_table<call_operation>::most);
  if (status == errc::stopped)
    return who +
           ": no reply had come when the call was stopped: the handler is at work, or that "
           "program has registered none yet";
  return proto::explain(who, status, to_, nullptr, 0);
}

}  // namespace weft::detail
