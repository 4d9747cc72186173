// SPDX-License-Identifier: Apache-2.0
// How the message of a send leaves.
#include <algorithm>
#include <cstring>

#include "bindings/vipl/vi/vi.hpp"

namespace weft::vipl {

void work::sending::ended(operation& op) noexcept {
  auto& self = static_cast<sending&>(op);
  self.whole.owner.on_committed(self.whole, self.status);
}

namespace {

/// The bytes of a send from one on, as its segments have them.
std::byte* gather(const VIP_DESCRIPTOR& d, std::size_t from, std::size_t size,
                  std::byte* to) noexcept {
  for (unsigned i = 0; size != 0; ++i) {
    const VIP_DATA_SEGMENT& s = segment_of(d, i).Local;
    if (from >= s.Length) {
      from -= s.Length;
      continue;
    }
    const std::size_t n = std::min<std::size_t>(s.Length - from, size);
    std::memcpy(to, static_cast<const std::byte*>(s.Data.Address) + from, n);
    to += n;
    size -= n;
    from = 0;
  }
  return to;
}

}  // namespace

/// A message, in memory that is free when it has left or was copied.
/// \param from, size the bytes of the send that come with it
/// \param place      of a long send: the number of the descriptor
std::span<const std::byte> send_queue::compose(header h, const VIP_DESCRIPTOR& d, std::size_t from,
                                               std::size_t size,
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
  } else {
    to = gather(d, from, size, to);
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
  const std::span<const std::byte> bytes = compose(h, d, 0, length, nullptr);
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
  if (w.in_pieces()) return send_pieces(w);
  const bool sends = w.kind == work::what::send;
  header h = vi_.connection.header_of(sends ? message::data : message::written);
  h.length = w.length;
  if (w.placed) h.flags |= in_place;
  if (w.unplaced) h.flags |= unplaced;
  const std::span<const std::byte> bytes =
      compose(h, *w.descriptor, 0, sends && !w.unplaced && !w.placed ? w.length : 0U,
              w.placed ? &w.place : nullptr);
  if (vi_.connection.peer().post_bytes(am{handler_number}, bytes).try_held())
    return has_left(w, errc::ok);
  w.message.assign(bytes.begin(), bytes.end());
  w.now = work::stage::committing;
  w.sent.emplace(w, vi_.connection.peer().post_bytes(am{handler_number}, w.message));
  if (w.sent->start_held()) has_left(w, w.sent->status);
}

/// All pieces that can leave now. Goes on when one has left that had to wait.
void send_queue::send_pieces(work& w) {
  const endpoint& peer = vi_.connection.peer();
  w.now = work::stage::committing;
  while (w.gone != w.length) {
    header h = vi_.connection.header_of(w.gone == 0 ? message::data : message::piece);
    h.flags = static_cast<std::uint8_t>(w.gone == 0 ? in_pieces : 0);
    h.length = w.gone == 0 ? w.length : w.gone;
    const std::size_t n = std::min<std::size_t>(longest_inline, w.length - w.gone);
    const auto bytes = compose(h, *w.descriptor, w.gone, n, nullptr);
    if (!peer.post_bytes(am{handler_number}, bytes).try_held()) {
      w.message.assign(bytes.begin(), bytes.end());
      w.gone += static_cast<std::uint32_t>(n);
      w.sent.emplace(w, peer.post_bytes(am{handler_number}, w.message));
      if (!w.sent->start_held()) return;
      if (w.sent->status != errc::ok) return has_left(w, w.sent->status);
    } else {
      w.gone += static_cast<std::uint32_t>(n);
    }
  }
  has_left(w, errc::ok);
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
  if (status == errc::ok && w.has_more_pieces() && vi_.connection.connected()) {
    try {
      send_pieces(w);
    } catch (const std::exception&) {  // no memory: the peer has a part of it
      finish(w, VIP_STATUS_TRANSPORT_ERROR);
      vi_.fail(VIP_ERROR_CATASTROPHIC, w.descriptor, true);
    }
  } else if (status == errc::ok && w.has_more_pieces()) {
    finish(w, w.status != 0 ? w.status : std::uint32_t{VIP_STATUS_DESC_FLUSHED_ERROR});
  } else {
    has_left(w, status);
  }
  advance();
}

}  // namespace weft::vipl
