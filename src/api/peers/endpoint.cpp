// SPDX-License-Identifier: Apache-2.0
#include <weft/endpoint.hpp>

#include "proto/messenger/message_errors.hpp"
#include "proto/messenger/messenger.hpp"
#include "proto/operations/closed_operation.hpp"
#include "proto/peer/peer.hpp"

namespace weft {

proto::peer& endpoint::peer() const {
  if (!state_) throw error(errc::invalid_argument, proto::explain_no_peer(0));
  return *state_;
}

std::optional<received> endpoint::try_probe(tag_mask t) const {
  proto::peer& from = peer();
  from.engine().poll_once();
  return from.tables().receives.try_probe(&from, proto::checked(t, true));
}

std::optional<claimed_message> endpoint::try_claim(tag_mask t) const {
  proto::peer& from = peer();
  from.engine().poll_once();
  return from.tables().receives.try_claim(&from, proto::checked(t, true));
}

void endpoint::close() {
  proto::peer& whom = peer();
  const runtime::engine::holder hold(whom.engine());
  whom.close();
}

void endpoint::abort() {
  proto::peer& whom = peer();
  const runtime::engine::holder hold(whom.engine());
  whom.give_up(errc::peer_lost, "this side has aborted the connection");
}

task<void> endpoint::closed() {
  const std::shared_ptr<proto::peer> p = peer().shared_from_this();
  co_await proto::closed(*p);
}

endpoint endpoint::lane(unsigned number) const {
  proto::peer& of = peer();
  return endpoint(of.tables().connections->lane_of(of, number));
}

unsigned endpoint::lane_number() const {
  return peer().tables().connections->place_of(peer()).lane;
}

peer_id endpoint::rank() const { return peer().tables().connections->place_of(peer()).rank; }

std::string endpoint::describe() const { return peer().describe(); }

}  // namespace weft
