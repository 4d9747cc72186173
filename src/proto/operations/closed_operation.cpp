// SPDX-License-Identifier: Apache-2.0
#include "proto/operations/closed_operation.hpp"

#include <new>
#include <vector>

#include "proto/messenger/messenger.hpp"

namespace weft::proto {

bool closed_operation::start() noexcept {
  const runtime::engine::holder hold(peer_->engine());
  if (cancel_requested_) status = errc::stopped;
  const peer::state now = peer_->now();
  if (cancel_requested_ || now == peer::state::closed || now == peer::state::lost) return true;
  try {
    peer_->closings.push_back(this);
  } catch (const std::bad_alloc&) {
    status = errc::out_of_memory;
    return true;
  }
  waiting_ = true;
  peer_->engine().pending(*this);
  return false;
}

void closed_operation::cancel() noexcept {
  const runtime::engine::holder hold(peer_->engine());
  cancel_requested_ = true;
  if (waiting_ && std::erase(peer_->closings, this) != 0) peer_->engine().end(*this, errc::stopped);
}

}  // namespace weft::proto
