// SPDX-License-Identifier: Apache-2.0
// Several messages in a row, by one operation.
#include <fmt/format.h>

#include <weft/operations/batches.hpp>

#include "proto/messenger/messenger.hpp"

namespace weft {

// --- sending ----------------------------------------------------------------------------------

bool send_many_operation::start() noexcept {
  while (!left_.empty()) {
    const std::size_t gone =
        detail::try_send_several(request.to.peer, request.to.id, request.tag.value, left_);
    left_ = left_.subspan(gone);
    sent_messages_ += gone;
    if (left_.empty()) break;
    if (!start_next()) return false;
    if (status != errc::ok) return true;
    left_ = left_.subspan(1);
    ++sent_messages_;
  }
  return true;
}

/// Starts the first of those left, by itself.
bool send_many_operation::start_next() noexcept {
  if (!request.to.peer) return send_operation::start();  // which refuses it
  const runtime::engine::holder hold(request.to.peer->engine());
  request.data = left_.front();
  size = sent = eager_end = 0;
  id = 0;
  rendezvous = begun = false;
  return send_operation::start_held();
}

void send_many_operation::one_ended(operation& op) noexcept {
  auto& self = static_cast<send_many_operation&>(op);
  if (self.status == errc::ok) {
    self.left_ = self.left_.subspan(1);
    ++self.sent_messages_;
    if (!self.start()) return;
  }
  self.set_complete(self.ended_);
  self.complete();
}

std::string send_many_operation::explain() const {
  return fmt::format("after {} of {} messages: {}", sent_messages_, sent_messages_ + left_.size(),
                     send_operation::explain());
}

// --- receiving --------------------------------------------------------------------------------

bool recv_many_operation::start() noexcept {
  if (into_.empty()) return true;
  while (recv_operation::start())
    if (!goes_on()) return true;
  return false;
}

/// A message has ended. \return whether another one is to be received
bool recv_many_operation::goes_on() noexcept {
  if (status == errc::ok && stays()) {
    advance();
    return true;
  }
  if (status == errc::ok || status == errc::truncated) note();
  return false;
}

void recv_many_operation::one_ended(operation& op) noexcept {
  auto& self = static_cast<recv_many_operation&>(op);
  if (self.goes_on() && !self.start()) return;
  self.set_complete(self.ended_);
  self.complete();
}

std::string recv_many_operation::explain() const {
  return fmt::format("after {} of {} messages: {}", received_, into_.size(),
                     recv_operation::explain());
}

}  // namespace weft
