// SPDX-License-Identifier: Apache-2.0
// The operations of messages: each is started at the peer, or at the matching of its context.
#include "proto/messenger/message_errors.hpp"
#include "proto/messenger/messenger.hpp"

namespace weft::detail {

peer_name::peer_name(proto::peer* p) noexcept : peer(p), id(p ? p->id() : no_peer) {}

}  // namespace weft::detail

namespace weft {

using detail::match_operation;

namespace {

/// Null: the operation names no peer.
proto::receives* receives_of(const match_operation& op) noexcept {
  if (op.from) return &op.from->tables().receives;
  return op.messenger ? &op.messenger->receives() : nullptr;
}

/// The operation names no peer, and ends.
bool names_none(operation& op) noexcept {
  op.status = errc::invalid_argument;
  return true;
}

template <class Operation>
void cancel_it(Operation& op) noexcept {
  if (proto::receives* const at = receives_of(op)) at->cancel(op);
}

std::string explain_match(const match_operation& op, std::size_t room) {
  if (!receives_of(op)) return proto::explain_no_peer(op.tag.value);
  return proto::explain(proto::describe(op), op.status, {op.from, op.from_id}, &op.got, room);
}

}  // namespace

bool send_request::try_held() const noexcept {
  return to.peer && data.single() && detail::may_leave_at_once(mode) &&
         to.peer->try_send_inline(to.id, tag.value, data.front(), immediate);
}

bool send_operation::start() noexcept {
  if (!request.to.peer) return names_none(*this);
  const runtime::engine::holder hold(request.to.peer->engine());
  return request.to.peer->start(*this);
}
bool send_operation::start_held() noexcept {
  return request.to.peer ? request.to.peer->start(*this) : names_none(*this);
}
void send_operation::cancel() noexcept {
  if (!request.to.peer) return;
  const runtime::engine::holder hold(request.to.peer->engine());
  request.to.peer->sender().cancel(*this);
}
std::string send_operation::explain() const {
  if (!request.to.peer) return proto::explain_no_peer(request.tag.value);
  return proto::explain(proto::describe(*this), status, request.to, nullptr, 0);
}

bool match_operation::withdraw() noexcept {
  proto::receives* const at = receives_of(*this);
  return at && at->withdraw(*this);
}

bool recv_operation::start_locked() noexcept {
  if (!from && !messenger) return names_none(*this);
  const runtime::engine::holder hold(from ? from->engine() : messenger->engine());
  return start_held();
}
bool recv_operation::start_held() noexcept {
  proto::receives* const at = receives_of(*this);
  return at ? at->start_held(*this) : names_none(*this);
}
void recv_operation::cancel() noexcept { cancel_it(*this); }
std::string recv_operation::explain() const { return explain_match(*this, into.size()); }

bool claimed_operation::try_start() noexcept {
  if (!from) return false;
  const runtime::engine::holder hold(from->engine());
  return proto::receives::ends_at_once(*claimed_) && proto::receives::start_held(*this, *claimed_);
}
bool claimed_operation::start() noexcept {
  if (!from) return names_none(*this);
  const runtime::engine::holder hold(from->engine());
  return start_held();
}
bool claimed_operation::start_held() noexcept {
  return from ? proto::receives::start_held(*this, *claimed_) : names_none(*this);
}
std::string claimed_operation::explain() const {
  if (status == errc::invalid_argument) return "there is no message: it was received or discarded";
  return recv_operation::explain();
}

bool probe_operation::start() noexcept {
  proto::receives* const at = receives_of(*this);
  return at ? at->start(*this) : names_none(*this);
}
bool probe_operation::start_held() noexcept {
  proto::receives* const at = receives_of(*this);
  return at ? at->start_held(*this) : names_none(*this);
}
void probe_operation::cancel() noexcept { cancel_it(*this); }
std::string probe_operation::explain() const { return explain_match(*this, 0); }

}  // namespace weft

weft::claimed_message::~claimed_message() {
  if (message_ && !from_.peer->engine().is_inherited()) discard();
}

void weft::claimed_message::discard() noexcept {
  if (proto::inbound_message* const m = std::exchange(message_, nullptr))
    from_.peer->tables().receives.discard(*m);
}
