// SPDX-License-Identifier: Apache-2.0
#include "proto/connection/peer_connection.hpp"

#include <new>

namespace weft::proto {

void peer_connection::want_link() noexcept {
  if (state_ != state::idle) return;
  state_ = state::connecting;
  host_->connect();
}

void peer_connection::opened(std::unique_ptr<transports::link> link) noexcept {
  link_ = std::move(link);
  if (state_ != state::closed) state_ = state::open;
}

bool peer_connection::begin_closing() noexcept {
  if (std::exchange(closing_, true) || gone()) return false;
  note(closed_by_this_side);
  return true;
}

void peer_connection::end(errc why, std::string_view detail) noexcept {
  state_ = why == errc::closed ? state::closed : state::lost;
  why_ = why;
  if (link_) link_->let_go();  // of memory of sends that end here; the peer may not know that
  note(detail);
}

void peer_connection::mark_failed(errc why) noexcept {
  marked_failure_ = why;
  upkeep_->note_marked();
}

/// For people; without memory they have the error code.
void peer_connection::note(std::string_view detail) noexcept {
  try {
    detail_ = detail;
  } catch (const std::bad_alloc&) {
    // No memory: the code tells most of it.
  }
}

}  // namespace weft::proto
