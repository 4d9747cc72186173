// SPDX-License-Identifier: Apache-2.0
// The reader of a stream of values.
//
//   CALLER                                       CALLED
//   first next: stream_request           ------> call_table::on_stored, served_call
//   on_item, next                        <------ item, at most most_items_ahead
//   take_first: call_more                ------> served_call::allow_items
//   ended: the end, or the failure       <------ reply, behind the last item
#include "proto/calls/value_stream.hpp"

#include <fmt/format.h>

#include "proto/messenger/message_errors.hpp"
#include "proto/peer/peer.hpp"
#include "proto/peer/protocol_tables.hpp"

namespace weft::proto {

using detail::next_item_operation;
using runtime::engine;

/// Progress lock held. The deadline of the call is that of the reader that starts it. \return
/// false: it has failed, and `status` is set
bool value_stream::begin(const next_item_operation& first) noexcept {
  begun_ = true;
  on = with_->engine().coroutine_home();
  if (first.environment) heed_deadline(*first.environment);
  over_ = start_held();
  if (!over_) self_ = shared_from_this();
  return !over_;
}

bool value_stream::start(next_item_operation& op) noexcept {
  const engine::holder hold(with_->engine());
  if (op.cancel_requested) {
    op.status = errc::stopped;
    return true;
  }
  if (taken_) with_->receiver().discard(*std::exchange(taken_, nullptr));
  if (!begun_) begin(op);
  if (serve(op)) return true;
  reader_ = &op;
  with_->engine().pending(op);
  return false;
}

/// Values that came before a failure come before it here, too.
bool value_stream::serve(next_item_operation& op) noexcept {
  op.has_item = waiting_.first != nullptr;
  if (op.has_item)
    take_first();
  else if (over_)
    op.status = status;
  return op.has_item || over_;
}

void value_stream::take_first() noexcept {
  taken_ = waiting_.first;
  waiting_.remove(*taken_);
  taken_->waits_in = nullptr;
  if (++to_allow_ != items_in_grant) return;
  to_allow_ = 0;
  allowed_ += items_in_grant;
  if (awaits_reply()) with_->writer().send_control(frame_kind::call_more, number_at_peer());
}

void value_stream::on_item(inbound_message& m) noexcept {
  waiting_.add(m);
  m.waits_in = &waiting_;
  if (!reader_) return;
  next_item_operation& op = *std::exchange(reader_, nullptr);
  serve(op);
  with_->engine().end(op, op.status);
}

void value_stream::cancel(next_item_operation& op) noexcept {
  const engine::holder hold(with_->engine());
  op.cancel_requested = true;
  if (reader_ != &op) return;
  reader_ = nullptr;
  with_->engine().end(op, errc::stopped);
}

void value_stream::ended() noexcept {
  const auto keep = std::move(self_);
  over_ = true;
  if (!reader_) return;
  next_item_operation& reader = *std::exchange(reader_, nullptr);
  serve(reader);
  with_->engine().end(reader, reader.status);
}

/// A long request has left, or a long refusal has come, behind all else.
void value_stream::last_part_ended(operation& op) noexcept {
  value_stream& self = static_cast<value_stream&>(op);
  const auto keep = self.self_;
  const engine::completion_holder hold(self.with_->engine(), op);
  self.ended();
}

void value_stream::leave() noexcept {
  if (with_->engine().is_inherited()) return;
  const engine::holder hold(with_->engine());
  const auto drop = [this](inbound_message& m) { with_->receiver().discard(m); };
  while (inbound_message* const m = waiting_.first) {
    waiting_.remove(*m);
    m->waits_in = nullptr;
    drop(*m);
  }
  if (taken_) drop(*std::exchange(taken_, nullptr));
  if (begun_ && !over_) with_->tables().calls.cancel(*this);
}

}  // namespace weft::proto

namespace weft::detail {

bool next_item_operation::start() noexcept { return of_.start(*this); }
void next_item_operation::cancel() noexcept { of_.cancel(*this); }
std::string next_item_operation::explain() const {
  if (!cancel_requested || status != errc::stopped) return of_.explain();
  return fmt::format("a stream of values from {}: its reader was stopped",
                     proto::name_of(of_.with()->id()));
}

item_source::item_source(peer_name to, std::shared_ptr<proto::peer> keep, am number,
                         call_bytes args, const call_signature* types)
    : state_(std::make_shared<proto::value_stream>(to, std::move(keep), number, std::move(args),
                                                   types)) {}

item_source::~item_source() {
  if (state_) state_->leave();
}

std::uint64_t item_source::size() const noexcept { return state_->taken()->total; }

claimed_request item_source::recv(const buffer_list<mutable_buffer>& into) const noexcept {
  return {&state_->taken(), state_->with().get(), into};
}

void item_source::refuse(errc why, std::size_t room) const {
  const std::string who = proto::name_of(state_->with()->id());
  if (why == errc::out_of_memory)
    throw error(why, fmt::format("no memory for a value of {} bytes from {}; at most {} are taken",
                                 size(), who, longest_typed_call));
  throw error(errc::refused, fmt::format("a value of {} bytes from {}, and the type of the values "
                                         "takes {}",
                                         size(), who, room));
}

}  // namespace weft::detail
