// SPDX-License-Identifier: Apache-2.0
// How the message of a send leaves.
#include <cstring>

#include "bindings/vipl/vi/vi.hpp"

namespace weft::vipl {

void work::sending::ended(operation& op) noexcept {
  auto& self = static_cast<sending&>(op);
  self.whole.owner.on_committed(self.whole, self.status);
}

/// A message, in memory that is free when it has left or was copied.
/// \param place of a long send: the number of the descriptor
std::span<const std::byte> send_queue::compose(header h, const VIP_DESCRIPTOR& d, bool carries,
                                               const std::uint32_t* place) noexcept {
  if ((d.CS.Control & VIP_CONTROL_IMMEDIATE) != 0) {
    h.flags |= with_immediate;
    h.immediate = d.CS.ImmediateData;
  }
  std::byte* const begin = vi_.owner.message_room().data();
  std::memcpy(begin, &h, sizeof h);
  std::byte* to = begin + sizeof h;
  if (place) {
    std::memcpy(to, place, sizeof *place);
    to += sizeof *place;
  } else if (carries) {
    for (unsigned i = 0; i != d.CS.SegCount; ++i) {
      const VIP_DATA_SEGMENT& s = segment_of(d, i).Local;
      if (s.Length != 0) std::memcpy(to, s.Data.Address, s.Length);
      to += s.Length;
    }
  }
  return {begin, to};
}

/// A short send that comes after no other, and that nothing confirms, is complete when it has left.
/// \return false: it needs a work
bool send_queue::send_at_once(VIP_DESCRIPTOR& d, std::uint32_t length) noexcept {
  if (length > longest_inline || !works_.empty() || !vi_.connection.connected() || vi_.confirms())
    return false;
  header h = vi_.connection.header_of(message::data);
  h.length = length;
  const std::span<const std::byte> bytes = compose(h, d, true, nullptr);
  if (!vi_.connection.peer().post_bytes(am{handler_number}, bytes).try_held()) return false;
  ++next_label_;
  d.CS.Length = length;
  d.CS.Status = VIP_STATUS_OP_SEND;
  finished.complete(d);
  return true;
}

void send_queue::commit(work& w) {
  if (!vi_.connection.connected()) return finish(w, VIP_STATUS_DESC_FLUSHED_ERROR);
  if (!w.takes_descriptor()) return finish(w, 0);
  if (w.kind == work::what::write) w.label = next_label_++;
  const bool sends = w.kind == work::what::send;
  header h = vi_.connection.header_of(sends ? message::data : message::written);
  h.length = w.length;
  if (w.placed) h.flags |= in_place;
  if (w.unplaced) h.flags |= unplaced;
  const std::span<const std::byte> bytes =
      compose(h, *w.descriptor, sends && !w.unplaced, w.placed ? &w.place : nullptr);
  if (vi_.connection.peer().post_bytes(am{handler_number}, bytes).try_held())
    return has_left(w, errc::ok);
  w.message.assign(bytes.begin(), bytes.end());
  w.now = work::stage::committing;
  w.sent.emplace(w, vi_.connection.peer().post_bytes(am{handler_number}, w.message));
  if (w.sent->start_held()) has_left(w, w.sent->status);
}

void send_queue::has_left(work& w, errc status) noexcept {
  if (status != errc::ok)
    finish(w, VIP_STATUS_TRANSPORT_ERROR);
  else if (w.status != 0 || !vi_.confirms() || comes_before(w.label, confirmed_))
    finish(w, w.status);
  else if (!vi_.connection.connected())
    finish(w, VIP_STATUS_DESC_FLUSHED_ERROR);
  else
    w.now = work::stage::unconfirmed;
}

void send_queue::on_committed(work& w, errc status) noexcept {
  has_left(w, status);
  advance();
}

}  // namespace weft::vipl
