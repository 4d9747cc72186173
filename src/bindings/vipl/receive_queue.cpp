// SPDX-License-Identifier: Apache-2.0
// The receive queue of a VI, and the messages of its peer.
#include <algorithm>
#include <cstring>

#include "bindings/vipl/vi.hpp"

namespace weft::vipl {

namespace {

/// How many descriptors of the peer are kept; it may send more, which are asked for later.
constexpr std::size_t most_known = 4096;

template <class T>
void append(std::vector<std::byte>& to, const T& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

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
    if (h.what == message::connected && heard == answer::none && peer_id_ == no_peer) {
      const std::optional<introduction> who = reader(rest).take<introduction>();
      if (!who || who->magic != wire_magic) return;
      remote = *who;
      peer_id_ = from;
      heard = answer::yes;
    } else if (from == peer_id_ && h.what == message::agreed) {
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
      peer_places_ = true;
      asked_ = h.length;
      return owner.settle_soon(*this);
    case message::ahead:
      try {
        learn(rest);
      } catch (const std::exception&) {
        // No memory: they are asked for.
      }
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
    if (asked_ && state == VIP_STATE_CONNECTED) send_ahead_from(*asked_);
    asked_.reset();
    if (state == VIP_STATE_CONNECTED) go_on_after_answer();
  } catch (const std::exception&) {
    connection_lost();  // no memory
  }
  pump();
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
  const bool placed = (how & in_place) != 0, lacks_place = (how & unplaced) != 0;
  const bool reliable = attributes.ReliabilityLevel != VIP_SERVICE_UNRELIABLE;
  const bool fits = !posted_.empty() && (!is_data || m.length <= posted_.front().capacity);
  if (posted_.empty() || (lacks_place && fits)) {
    refuse(label);
    if (reliable) fail(VIP_ERROR_RECVQ_EMPTY, nullptr, true);
    return;
  }
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

void vi::complete_receive(std::uint32_t status, std::uint32_t length) noexcept {
  VIP_DESCRIPTOR* const d = posted_.front().descriptor;
  posted_.pop_front();
  d->CS.Length = length;
  d->CS.Status = status;
  complete(receives, d, true);
}

void vi::flush_receives() noexcept {
  while (!posted_.empty())
    complete_receive(VIP_STATUS_OP_RECEIVE | VIP_STATUS_DESC_FLUSHED_ERROR, 0);
}

// --- descriptors that travel ahead --------------------------------------------------------------

bool vi::shows(const VIP_DESCRIPTOR& d) const noexcept {
  for (unsigned i = 0; i != d.CS.SegCount; ++i)
    if (std::find(shown_.begin(), shown_.end(), d.DS[i].Local.Handle) == shown_.end()) return false;
  return true;
}

void vi::show(const VIP_DESCRIPTOR& d) {
  for (unsigned i = 0; i != d.CS.SegCount; ++i) {
    const VIP_MEM_HANDLE handle = d.DS[i].Local.Handle;
    std::shared_ptr<landing_place> at;
    std::span<std::byte> bytes;
    {
      const nic::locked lock(owner);
      const registration* const r = owner.memory.find(handle);
      if (!r) continue;
      at = landing_;
      bytes = r->bytes;
    }
    at->show(owner, handle, bytes);
    const nic::locked lock(owner);
    if (at == landing_ && std::find(shown_.begin(), shown_.end(), handle) == shown_.end())
      shown_.push_back(handle);
  }
}

std::shared_ptr<landing_place> vi::hide(VIP_MEM_HANDLE handle) {
  std::erase(shown_, handle);
  return landing_;
}

/// Appends posted descriptors from label `from` on, as many as travel at once. \return their number
std::size_t vi::describe(std::uint32_t from, std::size_t room, std::vector<std::byte>& out) {
  std::size_t count = 0;
  const std::uint32_t skipped = from - arrived_;
  for (std::size_t i = skipped; i < posted_.size() && count != descriptors_in_batch; ++i, ++count) {
    const posted_receive& r = posted_[i];
    const VIP_DESCRIPTOR& d = *r.descriptor;
    const std::size_t bytes = sizeof(descriptor_ahead) + d.CS.SegCount * sizeof(place_ahead);
    if (out.size() + bytes > room) break;
    append(out,
           descriptor_ahead{from + static_cast<std::uint32_t>(count), r.capacity, d.CS.SegCount});
    for (unsigned k = 0; k != d.CS.SegCount; ++k) {
      const VIP_DATA_SEGMENT& s = d.DS[k].Local;
      append(out, place_ahead{s.Handle, s.Length, s.Data.AddressBits});
    }
  }
  if (count != 0) told_ = std::max(told_, from + static_cast<std::uint32_t>(count));
  return count;
}

/// Takes descriptors of the peer, which continue those that are known.
void vi::learn(std::span<const std::byte> from) {
  reader in(from);
  if (!in.take<std::uint32_t>()) return;
  const std::optional<std::uint32_t> count = in.take<std::uint32_t>();
  for (std::uint32_t i = 0; count && i != *count; ++i) {
    const std::optional<descriptor_ahead> d = in.take<descriptor_ahead>();
    if (!d || d->places > most_segments) return;
    known_descriptor k{d->number, d->capacity, {}};
    std::uint64_t room = 0;
    for (std::uint32_t p = 0; p != d->places; ++p) {
      const std::optional<place_ahead> one = in.take<place_ahead>();
      if (!one) return;
      room += one->length;
      k.places.push_back(*one);
    }
    if (room != k.capacity) return;
    if (!known_.empty() && k.label <= known_.back().label) continue;
    if (!known_.empty() && k.label != known_.back().label + 1) known_.clear();
    if (known_.size() == most_known) return;
    known_.push_back(std::move(k));
  }
}

/// At first all that are posted travel ahead. Later those of a peer that uses them: when a batch is
/// full, or it has used up what it knows.
bool vi::worth_sending_ahead() const noexcept {
  if (state != VIP_STATE_CONNECTED || !peer_ || !peer_places_) return false;
  const std::uint32_t until = arrived_ + static_cast<std::uint32_t>(posted_.size());
  return told_ <= arrived_ || until - told_ >= descriptors_in_batch;
}

void vi::send_ahead_locked() { send_ahead_from(std::max(told_, arrived_)); }

void vi::send_ahead_from(std::uint32_t from) {
  std::vector<std::byte> list;
  const std::uint32_t none[2] = {from, 0};
  append(list, none);
  const std::size_t count = describe(from, longest_inline, list);
  const std::uint32_t head[2] = {from, static_cast<std::uint32_t>(count)};
  std::memcpy(list.data(), head, sizeof head);
  say(message::ahead, list);
}

void vi::send_ahead() {
  const nic::locked lock(owner);
  if (state != VIP_STATE_CONNECTED || !peer_) return;
  const bool any = std::any_of(posted_.begin(), posted_.end(),
                               [](const posted_receive& r) { return r.capacity > longest_inline; });
  if (any) send_ahead_locked();
}

}  // namespace weft::vipl
