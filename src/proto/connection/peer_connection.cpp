// SPDX-License-Identifier: Apache-2.0
#include "proto/connection/peer_connection.hpp"

#include <utility>

#include "runtime/trace/probes.hpp"

namespace weft::proto {

void peer_connection::want_link() noexcept {
  if (state_ != state::idle) return;
  state_ = state::connecting;
  host_->connect();
}

void peer_connection::opened(std::unique_ptr<transports::link> link) noexcept {
  link_ = std::move(link);
  transport_ = link_->traits().name;
  if (state_ != state::closed) state_ = state::open;
}

bool peer_connection::begin_closing() noexcept {
  if (std::exchange(closing_, true) || has_ended()) return false;
  detail_ = std::move(ended(errc::closed, closed_by_this_side).detail);
  return true;
}

void peer_connection::end(ended how) noexcept {
  state_ = how.orderly() ? state::closed : state::lost;
  if (state_ == state::lost) runtime::probe::loss(id_, static_cast<int>(how.why));
  why_ = how.why;
  if (link_) link_->let_go();  // of memory of sends that end here; the peer may not know that
  detail_ = std::move(how.detail);
}

void peer_connection::mark_failed(errc why) noexcept {
  marked_failure_ = why;
  upkeep_->note_marked();
}

}  // namespace weft::proto
