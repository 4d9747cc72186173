// SPDX-License-Identifier: Apache-2.0
// The values of a stream on the called side; value_stream.cpp has a drawing of the exchange.
#include <utility>

#include "proto/calls/served_call.hpp"
#include "proto/peer/peer.hpp"

namespace weft::proto {

using runtime::engine;

send_request served_call::item_request(
    const detail::buffer_list<const_buffer>& data) const noexcept {
  return {from_.get(), tag{call_tag{call_kind::item, what_.tag.id, 0}.packed()}, data};
}

bool served_call::start(item_operation& op) noexcept {
  op.no_stream_ = !wants_stream() || replied_ || replying_ || held_back_;
  if (op.no_stream_ || op.cancel_requested) {
    op.status = op.no_stream_ ? errc::invalid_argument : errc::stopped;
    return true;
  }
  if (items_allowed_ != 0) {
    --items_allowed_;
    return op.send_operation::start_held();
  }
  held_back_ = &op;
  services_.engine.pending(op);
  return false;
}

void served_call::cancel(item_operation& op) noexcept {
  if (held_back_ != &op) return from_->sender().cancel(op);
  op.cancel_requested = true;
  held_back_ = nullptr;
  services_.engine.end(op, errc::stopped);
}

bool served_call::allow_items() noexcept {
  items_allowed_ += items_in_grant;
  if (!wants_stream() || items_allowed_ > most_items_ahead) return false;
  if (!held_back_) return true;
  item_operation& op = *std::exchange(held_back_, nullptr);
  engine& e = services_.engine;
  e.withdraw(op);
  --items_allowed_;
  if (op.send_operation::start_held()) e.end_unposted(op, op.status);
  return true;
}

}  // namespace weft::proto

namespace weft {

item_operation::item_operation(const item_request& r, complete_fn f) noexcept
    : send_operation(r.to->item_request(r.data), f), call_(*r.to) {}

bool item_operation::start() noexcept {
  const runtime::engine::holder hold(request.to.peer->engine());
  return start_held();
}
bool item_operation::start_held() noexcept { return call_.start(*this); }

void item_operation::cancel() noexcept {
  const runtime::engine::holder hold(request.to.peer->engine());
  call_.cancel(*this);
}

std::string item_operation::explain() const {
  if (no_stream_)
    return "the caller awaits no values, has its reply, or another value is being sent";
  return send_operation::explain();
}

}  // namespace weft
