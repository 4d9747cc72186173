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
proto::messenger* messenger_of(const send_operation& op) noexcept {
  return op.request.to.peer ? &op.request.to.peer->owner() : nullptr;
}
proto::messenger* messenger_of(const match_operation& op) noexcept {
  return op.from ? &op.from->owner() : op.messenger;
}

/// Starts the operation by `begin`, unless it names no peer.
template <class Operation, class Begin>
bool start_with(Operation& op, Begin begin) noexcept {
  proto::messenger* const at = messenger_of(op);
  if (at) [[likely]]
    return begin(*at);
  op.status = errc::invalid_argument;
  return true;
}

template <class Operation>
void cancel_it(Operation& op) noexcept {
  if (proto::messenger* const at = messenger_of(op)) at->cancel(op);
}

std::string explain_match(const match_operation& op, std::size_t room) {
  if (!messenger_of(op)) return proto::explain_no_peer(op.tag.value);
  return proto::explain(proto::describe(op), op.status, {op.from, op.from_id}, &op.got, room);
}

}  // namespace

bool send_request::try_held() const noexcept {
  return to.peer && data.single() && detail::may_leave_at_once(mode) &&
         to.peer->try_send_inline(to.id, tag.value, data.front(), immediate);
}

bool send_operation::start() noexcept {
  return start_with(*this, [this](proto::messenger& m) {
    const runtime::engine::holder hold(m.engine());
    return request.to.peer->start(*this);
  });
}
bool send_operation::start_held() noexcept {
  return start_with(*this, [this](proto::messenger&) { return request.to.peer->start(*this); });
}
void send_operation::cancel() noexcept {
  if (!request.to.peer) return;
  const runtime::engine::holder hold(request.to.peer->owner().engine());
  request.to.peer->sender().cancel(*this);
}
std::string send_operation::explain() const {
  if (!messenger_of(*this)) return proto::explain_no_peer(request.tag.value);
  return proto::explain(proto::describe(*this), status, request.to, nullptr, 0);
}

bool match_operation::withdraw() noexcept {
  proto::messenger* const of = messenger_of(*this);
  return of && of->withdraw(*this);
}

bool recv_operation::start_locked() noexcept {
  return start_with(*this, [this](proto::messenger& m) {
    const runtime::engine::holder hold(m.engine());
    return m.start_held(*this);
  });
}
bool recv_operation::start_held() noexcept {
  return start_with(*this, [this](proto::messenger& m) { return m.start_held(*this); });
}
void recv_operation::cancel() noexcept { cancel_it(*this); }
std::string recv_operation::explain() const { return explain_match(*this, into.size()); }

bool claimed_operation::start() noexcept {
  return start_with(*this, [this](proto::messenger& m) {
    const runtime::engine::holder hold(m.engine());
    return start_held();
  });
}
bool claimed_operation::start_held() noexcept {
  return start_with(
      *this, [this](proto::messenger&) { return proto::messenger::start_held(*this, *claimed_); });
}
std::string claimed_operation::explain() const {
  if (status == errc::invalid_argument) return "there is no message: it was received or discarded";
  return recv_operation::explain();
}

bool probe_operation::start() noexcept {
  return start_with(*this, [this](proto::messenger& m) { return m.start(*this); });
}
bool probe_operation::start_held() noexcept {
  return start_with(*this, [this](proto::messenger& m) { return m.start_held(*this); });
}
void probe_operation::cancel() noexcept { cancel_it(*this); }
std::string probe_operation::explain() const { return explain_match(*this, 0); }

}  // namespace weft

weft::claimed_message::~claimed_message() {
  if (message_ && !from_.peer->owner().engine().is_inherited()) discard();
}

void weft::claimed_message::discard() noexcept {
  if (proto::inbound_message* const m = std::exchange(message_, nullptr))
    from_.peer->owner().discard(*m);
}
