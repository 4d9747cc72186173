// SPDX-License-Identifier: Apache-2.0
#include "connections/pending_connection.hpp"

#include <utility>

namespace weft::connections {

using wireup::channel_ptr;
using wireup::failure;

void pending_connection::locate(const std::string& gone, failure unfound) {
  state_ = state::locating;
  unfound_ = std::move(unfound);
  owner_.locate(*peer_, gone, [self = shared_from_this()](const std::string& locator) {
    self->on_located(locator);
  });
}

void pending_connection::on_located(const std::string& locator) {
  if (!owner_.is_wanted(peer_)) return end(nullptr, {}, false);
  if (locator.empty()) return end(nullptr, unfound_, true);
  state_ = state::connecting;
  locator_ = locator;
  owner_.connect(*peer_, locator,
                 [self = shared_from_this()](const channel_ptr& c, const failure& why) {
                   self->on_connected(c, why);
                 });
}

void pending_connection::connect(const wireup::unpacked_address& address) {
  state_ = state::connecting;
  owner_.connect(*peer_, address,
                 [self = shared_from_this()](const channel_ptr& c, const failure& why) {
                   self->on_connected(c, why);
                 });
}

void pending_connection::on_connected(const channel_ptr& c, const failure& why) {
  if (!owner_.is_wanted(peer_)) return end(c, why, false);
  const bool rank_ended = !c && why.kind == errc::peer_lost && !locator_.empty();
  if (rank_ended && owner_.is_unmet(*peer_)) return locate(std::exchange(locator_, {}), why);
  end(c, why, true);
}

void pending_connection::end(const channel_ptr& c, const failure& why, bool wanted) {
  state_ = state::ended;
  owner_.connected(peer_, c, why, wanted);
}

}  // namespace weft::connections
