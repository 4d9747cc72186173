// SPDX-License-Identifier: Apache-2.0
// The receive queue of a VI, and the messages of its peer.
#include <algorithm>
#include <cstring>
#include <utility>

#include "bindings/vipl/vi.hpp"

namespace weft::vipl {

namespace {

void scatter(const VIP_DESCRIPTOR& to, std::span<const std::byte> bytes) noexcept {
  for (unsigned i = 0; i != to.CS.SegCount && !bytes.empty(); ++i) {
    const VIP_DATA_SEGMENT& s = to.DS[i].Local;
    const std::size_t n = std::min<std::size_t>(s.Length, bytes.size());
    if (n != 0) std::memcpy(s.Data.Address, bytes.data(), n);
    bytes = bytes.subspan(n);
  }
}

}  // namespace

// --- messages -----------------------------------------------------------------------------------

void vi::on_message(const header& h, peer_id from, std::span<const std::byte> rest) noexcept {
  if (state == VIP_STATE_CONNECT_PENDING) {
    if (side_ == side::requests && h.what == message::connected && heard == answer::none &&
        (peer_id_ == no_peer || peer_id_ == from)) {
      const std::optional<introduction> who = reader(rest).take<introduction>();
      if (!who || who->magic != wire_magic) return;
      remote = *who;
      peer_id_ = from;
      heard = answer::yes;
    } else if (side_ == side::accepts && from == peer_id_ && h.what == message::agreed &&
               heard == answer::none) {
      heard = answer::yes;
      state = VIP_STATE_CONNECTED;
    } else if (from == peer_id_) {
      heard = answer::no;
    }
    return owner.note_event();
  }
  if (state != VIP_STATE_CONNECTED || from != peer_id_) return;
  switch (h.what) {
    case message::data:
    case message::written: {
      const received_message m{h.length, (h.flags & with_immediate) != 0, h.immediate,
                               h.what == message::data
                                   ? std::uint32_t{VIP_STATUS_OP_RECEIVE}
                                   : std::uint32_t{VIP_STATUS_OP_REMOTE_RDMA_WRITE}};
      return arrive(m, rest, h.flags);
    }
    case message::arrived:
      return on_arrived(h.length);
    case message::refused:
      return on_refused(h.length);
    case message::asks:
      peer_places_ = asked_ = true;
      return owner.settle_soon(*this);
    case message::ahead:
      try {
        learn(rest);
      } catch (const std::exception&) {
        // No memory: they are asked for.
      }
      if ((h.flags & flags::answers) != 0) answered_ = true;
      return owner.settle_soon(*this);
    case message::broken:
    case message::left:
      return fail(VIP_ERROR_CONN_LOST, nullptr, false);
    case message::connected:
    case message::agreed:
    case message::gone:
      break;
  }
}

void vi::settle() noexcept {
  try {
    const bool asked = std::exchange(asked_, false), drop = std::exchange(tells_drop_, false);
    if ((asked || drop) && state == VIP_STATE_CONNECTED)
      send_ahead_from(taken_, asked ? flags::answers : flags{});
    if (state == VIP_STATE_CONNECTED) go_on_after_answer();
  } catch (const std::exception&) {
    connection_lost();  // no memory
  }
  advance();
}

/// A message found no descriptor that holds it.
void vi::refuse(std::uint32_t label) noexcept {
  if (attributes.ReliabilityLevel != VIP_SERVICE_RELIABLE_RECEPTION) return;
  header h = header_of(message::refused);
  h.length = label;
  owner.send_soon(peer_, h);
}

void vi::arrive(const received_message& m, std::span<const std::byte> bytes,
                std::uint8_t how) noexcept {
  const std::uint32_t label = arrived_++;
  const bool is_data = m.operation == VIP_STATUS_OP_RECEIVE;
  const bool placed = is_data && (how & in_place) != 0;
  const bool lacks_place = is_data && !placed && (how & unplaced) != 0;
  const bool fits = !posted_.empty() && (!is_data || m.length <= posted_.front().capacity);
  if (posted_.empty() || (lacks_place && fits)) return drop(label);
  // The sender does not know yet that an earlier message was dropped.
  if (placed && reader(bytes).take<std::uint32_t>() != taken_) return drop(label);
  const bool reliable = attributes.ReliabilityLevel != VIP_SERVICE_UNRELIABLE;
  VIP_DESCRIPTOR& d = *posted_.front().descriptor;
  std::uint32_t status = m.operation;
  if (m.immediate) {
    d.CS.ImmediateData = m.word;
    status |= VIP_STATUS_IMMEDIATE;
  }
  if (!fits) {
    refuse(label);
    complete_receive(status | VIP_STATUS_LENGTH_ERROR, 0);
    if (reliable) fail(VIP_ERROR_CONN_LOST, &d, true);
    return;
  }
  if (is_data && !placed) {
    if (bytes.size() != m.length) {  // no correct peer sends that
      complete_receive(status | VIP_STATUS_TRANSPORT_ERROR, 0);
      return fail(VIP_ERROR_CONN_LOST, &d, true);
    }
    scatter(d, bytes);
  }
  if (placed) peer_places_ = true;
  complete_receive(status, m.length);
  if (attributes.ReliabilityLevel != VIP_SERVICE_RELIABLE_RECEPTION) return;
  header h = header_of(message::arrived);
  h.length = arrived_;
  owner.send_soon(peer_, h);
}

/// A message takes no descriptor.
void vi::drop(std::uint32_t label) noexcept {
  if (attributes.ReliabilityLevel != VIP_SERVICE_UNRELIABLE) {
    refuse(label);
    return fail(VIP_ERROR_RECVQ_EMPTY, nullptr, true);
  }
  if (posted_.empty()) return;
  // The peer knows descriptors for messages that take others now.
  tells_drop_ = true;
  owner.settle_soon(*this);
}

void vi::complete_receive(std::uint32_t status, std::uint32_t length) noexcept {
  VIP_DESCRIPTOR* const d = posted_.front().descriptor;
  posted_.pop_front();
  ++taken_;
  d->CS.Length = length;
  d->CS.Status = status;
  complete(receives, d, true);
}

void vi::flush_receives() noexcept {
  while (!posted_.empty())
    complete_receive(VIP_STATUS_OP_RECEIVE | VIP_STATUS_DESC_FLUSHED_ERROR, 0);
}

}  // namespace weft::vipl
