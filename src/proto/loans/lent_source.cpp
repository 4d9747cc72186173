// SPDX-License-Identifier: Apache-2.0
#include "proto/loans/lent_source.hpp"

#include <new>
#include <utility>

#include <weft/detail/loan_state.hpp>

#include "proto/peer/peer.hpp"

namespace weft::proto {

lent_source* lent_source::make(std::shared_ptr<lent_home> home, detail::peer_name of,
                               const std::shared_ptr<const void>& mapping) noexcept {
  return new (std::nothrow) lent_source(std::move(home), of, mapping);
}

/// The peer may have ended, and its object may be another peer by now: then its memory is its own
/// again, and nothing is to be sent.
void lent_source::give_back(std::uint16_t number) noexcept {
  lent_home::with_lock(home_, [this, number](bool lives) noexcept {
    if (lives && from_.peer->id() == from_.id && !from_.peer->has_ended())
      from_.peer->writer().send_quietly(frame_kind::fin_ack, number);
    drop();
  });
}

}  // namespace weft::proto

void weft::detail::lent_memory::give_back() noexcept { source_->give_back(number_); }
