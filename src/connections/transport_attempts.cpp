// SPDX-License-Identifier: Apache-2.0
#include "connections/transport_attempts.hpp"

#include <algorithm>

#include "proto/peer/peer.hpp"

namespace weft::connections {

void transport_attempts::add(const proto::peer& p, transport_attempt made) {
  attempts_[&p].push_back(std::move(made));
}

std::vector<transport_attempt> transport_attempts::of(const proto::peer& p) const {
  if (const auto found = attempts_.find(&p); found != attempts_.end()) return found->second;
  const auto ended = std::find_if(unreached_.begin(), unreached_.end(),
                                  [&](const auto& one) { return one.first == p.id(); });
  return ended == unreached_.end() ? list() : ended->second;
}

void transport_attempts::forget(const proto::peer& p, errc why) {
  const auto found = attempts_.find(&p);
  if (found == attempts_.end()) return;
  if (why == errc::unreachable) {
    if (unreached_.size() == most_unreached) unreached_.pop_front();
    unreached_.emplace_back(p.id(), std::move(found->second));
  }
  attempts_.erase(found);
}

}  // namespace weft::connections
