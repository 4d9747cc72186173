// SPDX-License-Identifier: Apache-2.0
// How a work of the send queue begins: its puts and gets, and the question for a descriptor.
#include <algorithm>
#include <utility>

#include "bindings/vipl/vi/vi.hpp"

namespace weft::vipl {

namespace {

const std::byte* bytes_at(const VIP_DATA_SEGMENT& s) noexcept {
  return static_cast<const std::byte*>(s.Data.Address);
}

}  // namespace

void work::part::ended(operation& op) noexcept {
  auto& self = static_cast<part&>(op);
  work& w = self.whole;
  if (self.status == errc::refused)
    w.status |= w.kind == what::send ? VIP_STATUS_TRANSPORT_ERROR : VIP_STATUS_RDMA_PROT_ERROR;
  else if (self.status != errc::ok)
    w.status |= VIP_STATUS_TRANSPORT_ERROR;
  if (--w.parts_left == 0) w.owner.on_moved(w);
}

void send_queue::begin(work& w) {
  if (w.kind != work::what::send) return begin_rdma(w);
  w.label = next_label_++;
  if (w.length <= longest_in_pieces) {
    w.now = work::stage::moved;
  } else if (const known_descriptor* const at = known_.find(w.label)) {
    place(w, *at);
  } else {
    ask(w);
  }
}

/// Puts the gather list of the work to the scatter list of the descriptor.
void send_queue::place(work& w, const known_descriptor& at) {
  if (at.capacity < w.length) {
    w.unplaced = true;
    w.now = work::stage::moved;
    return;
  }
  w.placed = true;
  w.place = at.number;
  std::size_t piece = 0, in_piece = 0;
  for (unsigned i = 0; i != w.descriptor->CS.SegCount; ++i) {
    const VIP_DATA_SEGMENT& from = segment_of(*w.descriptor, i).Local;
    for (std::size_t done = 0; done != from.Length;) {
      const place_ahead& to = at.places[piece];
      const std::size_t n = std::min<std::size_t>(from.Length - done, to.length - in_piece);
      if (n != 0)
        w.parts.emplace_back(
            w, vi_.connection.peer().put(
                   {bytes_at(from) + done, n},
                   {region_key(vi_.connection.remote().landing, access::landing, 0, to.handle),
                    to.address + in_piece, n}));
      done += n;
      in_piece += n;
      if (in_piece == to.length) {
        ++piece;
        in_piece = 0;
      }
    }
  }
  start_parts(w);
}

/// No descriptor for it has travelled ahead. All messages before it have left, so that the answer
/// tells whether there is one.
void send_queue::ask(work& w) {
  header h = vi_.connection.header_of(message::asks);
  h.length = w.label;
  vi_.connection.say(h);
  w.now = work::stage::asking;
}

void send_queue::begin_rdma(work& w) {
  const VIP_ADDRESS_SEGMENT& there = segment_of(*w.descriptor, 0).Remote;
  const introduction& remote = vi_.connection.remote();
  const bool allowed = w.kind == work::what::write ? remote.rdma_write != 0 : remote.rdma_read != 0;
  if (!allowed) return finish(w, VIP_STATUS_RDMA_PROT_ERROR);
  const std::uint64_t key = region_key(remote.secret, access::rdma, remote.tag, there.Handle);
  std::uint64_t at = there.Data.AddressBits;
  for (unsigned i = 1; i != w.descriptor->CS.SegCount; ++i) {
    const VIP_DATA_SEGMENT& here = segment_of(*w.descriptor, i).Local;
    if (here.Length == 0) continue;
    const remote_region place{key, at, here.Length};
    if (w.kind == work::what::write)
      w.parts.emplace_back(w, vi_.connection.peer().put({bytes_at(here), here.Length}, place));
    else
      w.parts.emplace_back(
          w, vi_.connection.peer().get({static_cast<std::byte*>(here.Data.Address), here.Length},
                                       place));
    at += here.Length;
  }
  start_parts(w);
}

void send_queue::start_parts(work& w) noexcept {
  w.now = work::stage::moving;
  w.parts_left = w.parts.size() + 1;
  for (work::part& p : w.parts)
    if (p.start_held()) work::part::ended(p);
  if (--w.parts_left == 0) on_moved(w);
}

void send_queue::on_moved(work& w) noexcept {
  if (w.status == 0) {
    w.now = work::stage::moved;
  } else if (w.kind == work::what::send && vi_.connection.connected() && !vi_.reliable()) {
    // Its message leaves without bytes: later ones have their numbers already.
    w.placed = false;
    w.unplaced = true;
    w.now = work::stage::moved;
  } else {
    finish(w, w.status);
  }
  advance();
}

// --- descriptors that travel ahead --------------------------------------------------------------

void send_queue::on_descriptors(std::span<const std::byte> list) noexcept {
  try {
    known_.learn(list);
  } catch (const std::exception&) {
    // No memory: they are asked for.
  }
  vi_.settle_soon();
}

void send_queue::settle() {
  const auto answered = std::exchange(answered_, std::nullopt);
  for (std::size_t i = 0; i != started_; ++i) {
    work& w = *works_[i];
    if (w.now != work::stage::asking) continue;
    if (const known_descriptor* const at = known_.find(w.label)) {
      place(w, *at);
    } else if (answered == w.label) {
      w.unplaced = true;
      w.now = work::stage::moved;
    }
    break;
  }
}

}  // namespace weft::vipl
