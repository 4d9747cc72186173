// SPDX-License-Identifier: Apache-2.0
#include <weft/endpoint.hpp>

#include "proto/messenger.hpp"
#include "proto/peer.hpp"

namespace weft {

std::optional<received> endpoint::try_probe(tag_mask t) const {
  state_->owner().engine().poll_once();
  return state_->owner().try_probe(state(), t);
}

std::optional<claimed_message> endpoint::try_claim(tag_mask t) const {
  state_->owner().engine().poll_once();
  return state_->owner().try_claim(state(), t);
}

void endpoint::close() {
  const runtime::engine::holder hold(state_->owner().engine());
  state_->close();
}

task<void> endpoint::closed() {
  const std::shared_ptr<proto::peer> p = state_;
  co_await p->owner().closed(*p);
}

std::string endpoint::describe() const { return state_->owner().describe(*state_); }

}  // namespace weft
