// SPDX-License-Identifier: Apache-2.0
// Loans: the receiver reads the payload where it lies. The drawing is in loans/README.md.
#include <utility>

#include <weft/detail/value_ops.hpp>
#include <weft/operations/loans.hpp>

#include "proto/eager/receiver.hpp"
#include "proto/loans/lent_source.hpp"

namespace weft::proto {

/// A loan that meets a receive of views, whose memory has not been made yet.
/// \return false: the payload has to be fetched, into memory that is there now
bool rendezvous_receiver::take_view(inbound_message& m) noexcept {
  auto& op = static_cast<detail::sized_recv_operation&>(*m.receive);
  errc refusal = op.refusal(m.total);
  if (refusal == errc::ok && m.arrived == 0 && view(m, *op.view)) {
    m.arrived = m.room = m.total;
    ++connection_->traffic().loans_viewed;
    receiver_->finish(m);
    return true;
  }
  if (refusal == errc::ok) refusal = op.make_room(m.total);
  if (refusal == errc::ok) {
    m.remake_room();
    return false;
  }
  m.given_up = true;
  op.got = m.about();
  services_->engine.end(m.unmatch(), refusal);
  fetch(m);
  return true;
}

/// \return false: the link cannot show the memory here, or it is not aligned as that of a loan
bool rendezvous_receiver::view(const inbound_message& m, detail::lent_memory& to) noexcept {
  if (!m.readable || !services_->lent) return false;
  const transports::peer_view there = connection_->link()->view(m.at, m.total);
  if (!there.at || reinterpret_cast<std::uintptr_t>(there.at) % detail::loan_alignment != 0)
    return false;
  if (!viewed_ || !viewed_->is(*there.keeps)) {
    lent_source* const made = lent_source::make(
        services_->lent, detail::peer_name(m.from, connection_->id()), *there.keeps);
    if (!made) return false;
    forget_viewed();
    viewed_ = made;
  }
  viewed_->add();
  to = detail::lent_memory(*viewed_, m.sender_id, {there.at, m.total});
  return true;
}

/// Views that live keep it.
void rendezvous_receiver::forget_viewed() noexcept {
  if (lent_source* const s = std::exchange(viewed_, nullptr)) s->drop();
}

}  // namespace weft::proto
