// SPDX-License-Identifier: Apache-2.0
// The messages that take receives: whole, in pieces, placed by puts, or announced by RDMA writes.
#include <algorithm>
#include <cstring>

#include "bindings/vipl/vi/vi.hpp"

namespace weft::vipl {

namespace {

/// Bytes from number `from` on. All of them have a place.
void scatter(const VIP_DESCRIPTOR& to, std::size_t from,
             std::span<const std::byte> bytes) noexcept {
  for (unsigned i = 0; !bytes.empty(); ++i) {
    const VIP_DATA_SEGMENT& s = segment_of(to, i).Local;
    if (from >= s.Length) {
      from -= s.Length;
      continue;
    }
    const std::size_t n = std::min<std::size_t>(s.Length - from, bytes.size());
    std::memcpy(static_cast<std::byte*>(s.Data.Address) + from, bytes.data(), n);
    bytes = bytes.subspan(n);
    from = 0;
  }
}

}  // namespace

void receive_queue::on_arrival(const header& h, std::span<const std::byte> bytes) noexcept {
  if (incoming_.left != 0) return vi_.fail(VIP_ERROR_CONN_LOST, nullptr, true);  // between pieces
  const std::uint32_t label = arrived_++;
  const bool is_data = h.what == message::data;
  const bool placed = is_data && (h.flags & in_place) != 0;
  const bool lacks_place = is_data && !placed && (h.flags & unplaced) != 0;
  const bool has_pieces = is_data && !placed && !lacks_place && (h.flags & in_pieces) != 0;
  const bool fits = !posted_.empty() && (!is_data || h.length <= posted_.front().capacity);
  const bool withdrawn = fits && posted_.front().withdrawn;
  const bool reaches = fits && !withdrawn && (!is_data || h.length <= posted_.front().reach);
  if (has_pieces) {
    incoming_ = {h.length, h.length, 0, !reaches};
    if (!add_piece(bytes)) return vi_.fail(VIP_ERROR_CONN_LOST, nullptr, true);
  }
  if (posted_.empty() || (lacks_place && reaches)) return drop(label);
  // The sender does not know yet that an earlier message was dropped.
  if (placed && reader(bytes).take<std::uint32_t>() != taken_) return drop(label);
  VIP_DESCRIPTOR& d = *posted_.front().descriptor;
  if (!is_data && (!bytes.empty() || h.length > vi_.attributes.MaxTransferSize)) {
    // No correct peer says that of a write: what it has written is not what was agreed.
    take(VIP_STATUS_OP_REMOTE_RDMA_WRITE | VIP_STATUS_TRANSPORT_ERROR, 0);
    return vi_.fail(VIP_ERROR_RDMAW_DATA, nullptr, true);
  }
  std::uint32_t status = is_data ? std::uint32_t{VIP_STATUS_OP_RECEIVE}
                                 : std::uint32_t{VIP_STATUS_OP_REMOTE_RDMA_WRITE};
  if ((h.flags & with_immediate) != 0) {
    d.CS.ImmediateData = h.immediate;
    status |= VIP_STATUS_IMMEDIATE;
  }
  if (!reaches)
    return refuse_message(label,
                          status | (fits ? VIP_STATUS_PROTECTION_ERROR : VIP_STATUS_LENGTH_ERROR));
  if (has_pieces) {
    incoming_.status = status;
    return;
  }
  if (is_data && !placed) {
    if (bytes.size() != h.length) {  // no correct peer sends that
      take(status | VIP_STATUS_TRANSPORT_ERROR, 0);
      return vi_.fail(VIP_ERROR_CONN_LOST, &d, true);
    }
    scatter(d, 0, bytes);
  }
  if (placed) peer_places_ = true;
  take(status, h.length);
  confirm();
}

/// Takes the next bytes of the message to its descriptor. \return false: no correct peer sends so
/// many, or such a message
bool receive_queue::add_piece(std::span<const std::byte> bytes) noexcept {
  const std::size_t expected = std::min<std::size_t>(longest_inline, incoming_.left);
  if (bytes.size() != expected || incoming_.length <= longest_inline ||
      incoming_.length > longest_in_pieces) {
    incoming_.left = 0;
    return false;
  }
  if (!incoming_.dropped)
    scatter(*posted_.front().descriptor, incoming_.length - incoming_.left, bytes);
  incoming_.left -= static_cast<std::uint32_t>(expected);
  return true;
}

void receive_queue::on_piece(const header& h, std::span<const std::byte> bytes) noexcept {
  const bool expected = incoming_.left != 0 && h.length == incoming_.length - incoming_.left;
  const bool lost = expected && !incoming_.dropped && posted_.front().withdrawn;
  if (lost) {
    incoming_.dropped = true;
    refuse_message(arrived_ - 1, incoming_.status | VIP_STATUS_PROTECTION_ERROR);
  }
  if (!expected || !add_piece(bytes)) return vi_.fail(VIP_ERROR_CONN_LOST, nullptr, true);
  if (incoming_.left != 0 || incoming_.dropped) return;
  take(incoming_.status, incoming_.length);
  confirm();
}

/// The message may not go to the descriptor that it takes.
void receive_queue::refuse_message(std::uint32_t label, std::uint32_t status) noexcept {
  VIP_DESCRIPTOR& d = *posted_.front().descriptor;
  const bool withdrawn = posted_.front().withdrawn;
  refuse(label);
  take(status, 0);
  if (vi_.reliable())
    vi_.fail(withdrawn ? VIP_ERROR_COMP_PROT : VIP_ERROR_CONN_LOST, &d, true);
  else if (withdrawn)
    vi_.report(VIP_ERROR_COMP_PROT, &d);
}

void receive_queue::confirm() noexcept {
  if (!vi_.confirms()) return;
  confirms_ = true;
  vi_.settle_soon();
}

void receive_queue::on_question(std::uint32_t label) noexcept {
  peer_places_ = true;
  asked_ = label;
  vi_.settle_soon();
}

/// A message found no descriptor that holds it.
void receive_queue::refuse(std::uint32_t label) noexcept {
  if (!vi_.confirms()) return;
  refused_ = label;
  vi_.settle_soon();
}

/// A message takes no descriptor.
void receive_queue::drop(std::uint32_t label) noexcept {
  if (vi_.reliable()) {
    refuse(label);
    return vi_.fail(VIP_ERROR_RECVQ_EMPTY, nullptr, true);
  }
  if (posted_.empty()) return;
  // The peer knows descriptors for messages that take others now.
  tells_drop_ = true;
  vi_.settle_soon();
}

void receive_queue::take(std::uint32_t status, std::uint32_t length) noexcept {
  VIP_DESCRIPTOR& d = *posted_.pop().descriptor;
  ++taken_;
  d.CS.Length = length;
  d.CS.Status = status;
  finished.complete(d);
}

}  // namespace weft::vipl
