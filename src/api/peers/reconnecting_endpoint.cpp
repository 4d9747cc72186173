// SPDX-License-Identifier: Apache-2.0
#include <weft/reconnecting_endpoint.hpp>

#include "api/core/core.hpp"

namespace weft {

namespace {

bool has_ended(const endpoint& e) {
  const proto::peer* const peer = detail::internals::peer_of(e);
  if (!peer) return true;
  const runtime::engine::holder hold(peer->engine());
  return peer->has_ended();
}

}  // namespace

task<endpoint> reconnecting_endpoint::connected() {
  const mutex_lock lock = co_await connecting_.lock();
  if (has_ended(now_)) now_ = co_await with_retry(policy_, [this] { return connect_once(); });
  co_return now_;
}

/// A connection that is ending is still found by its address: then there is none yet.
task<endpoint> reconnecting_endpoint::connect_once() {
  endpoint there = co_await ctx_->connect(address_, private_data_, by_);
  if (has_ended(there))
    throw error(errc::closed, "the former connection to " + address_ + " has not ended yet");
  co_return there;
}

void reconnecting_endpoint::fail(const error& e) const {
  throw error(e.kind(), "service at " + address_ + ": " + e.what());
}

}  // namespace weft
