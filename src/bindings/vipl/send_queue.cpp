// SPDX-License-Identifier: Apache-2.0
// The send queue of a VI. A work begins when its place is known, commits after all before it, and
// is published when all before it are.
//
//   short send         data, with the bytes
//   long send          puts to the receive descriptor that has travelled ahead; data
//                      without one: asks, and then the same
//   RDMA write         puts; with immediate data also: written
//   RDMA read          gets
#include <algorithm>
#include <cstring>
#include <limits>

#include "bindings/vipl/vi.hpp"

namespace weft::vipl {

namespace {

const std::byte* bytes_at(const VIP_DATA_SEGMENT& s) noexcept {
  return static_cast<const std::byte*>(s.Data.Address);
}

}  // namespace

// --- operations ---------------------------------------------------------------------------------

void work::part::ended(operation& op) noexcept {
  auto& self = static_cast<part&>(op);
  work& w = self.whole;
  if (self.status == errc::refused)
    w.status |= w.kind == what::send ? VIP_STATUS_TRANSPORT_ERROR : VIP_STATUS_RDMA_PROT_ERROR;
  else if (self.status != errc::ok)
    w.status |= VIP_STATUS_TRANSPORT_ERROR;
  if (--w.parts_left == 0) w.owner.on_moved(w);
}

void work::sending::ended(operation& op) noexcept {
  auto& self = static_cast<sending&>(op);
  self.whole.owner.on_committed(self.whole, self.status);
}

work& vi::take_work() {
  if (free_works_.empty()) {
    all_works_.push_back(std::make_unique<work>(*this));
    free_works_.reserve(all_works_.size());
    return *all_works_.back();
  }
  work& w = *free_works_.back();
  free_works_.pop_back();
  w.clear();
  return w;
}

// --- the queue ----------------------------------------------------------------------------------

void vi::pump() noexcept {
  if (pumping_) {
    again_ = true;
    return;
  }
  pumping_ = true;
  do {
    again_ = false;
    try {
      while (pump_once()) continue;
    } catch (const std::exception&) {
      // No memory for its parts: pump_once finishes it now.
      if (started_ < works_.size()) works_[started_]->status |= VIP_STATUS_TRANSPORT_ERROR;
      again_ = started_ < works_.size();
    }
    publish_sends();
  } while (again_);
  pumping_ = false;
}

/// \return whether something has changed
bool vi::pump_once() {
  while (started_ < works_.size()) {
    work& w = *works_[started_];
    if (state != VIP_STATE_CONNECTED || w.status != 0) {
      finish(w, w.status != 0 ? w.status : std::uint32_t{VIP_STATUS_DESC_FLUSHED_ERROR});
    } else {
      const bool is_next = started_ == committed_;
      if (w.fenced && started_ != 0) break;
      if (!is_next && w.kind != work::what::send) break;
      if (!is_next && w.length > longest_inline &&
          (known_.empty() || known_.back().label < w.label))
        break;
      begin(w);
    }
    ++started_;
  }
  if (committed_ == started_) return false;
  work& w = *works_[committed_];
  if (w.now == work::stage::moved) {
    ++committed_;
    try {
      commit(w);
    } catch (const std::exception&) {  // no memory
      finish(w, VIP_STATUS_TRANSPORT_ERROR);
    }
    return true;
  }
  if (w.now == work::stage::finished) {
    ++committed_;
    return true;
  }
  return false;
}

void vi::publish_sends() noexcept {
  bool failed = false;
  VIP_DESCRIPTOR* culprit = nullptr;
  while (!works_.empty() && works_.front()->now == work::stage::finished) {
    work& w = *works_.front();
    works_.pop_front();
    if (committed_ != 0) --committed_;
    if (started_ != 0) --started_;
    const std::uint32_t operation = w.kind == work::what::send    ? VIP_STATUS_OP_SEND
                                    : w.kind == work::what::write ? VIP_STATUS_OP_RDMA_WRITE
                                                                  : VIP_STATUS_OP_RDMA_READ;
    w.descriptor->CS.Length = w.length;
    w.descriptor->CS.Status = w.status | operation;
    if (w.status != 0 && !failed) {
      failed = true;
      culprit = w.descriptor;
    }
    complete(sends, w.descriptor, false);
    free_works_.push_back(&w);
  }
  // What goes wrong here ends the connection, unless the VI is unreliable.
  if (failed && state == VIP_STATE_CONNECTED &&
      attributes.ReliabilityLevel != VIP_SERVICE_UNRELIABLE)
    fail(VIP_ERROR_CONN_LOST, culprit, true);
}

void vi::finish(work& w, std::uint32_t status) noexcept {
  w.status = status;
  w.now = work::stage::finished;
}

// --- beginnings ---------------------------------------------------------------------------------

void vi::begin(work& w) {
  if (w.kind != work::what::send) return begin_rdma(w);
  if (w.length > longest_inline) return begin_send(w);
  w.now = work::stage::moved;
}

void vi::begin_send(work& w) {
  while (!known_.empty() && known_.front().label < w.label) known_.pop_front();
  if (known_.empty() || known_.front().label != w.label) return ask(w);
  place(w, known_.front());
}

/// Puts the gather list of the work to the scatter list of the descriptor.
void vi::place(work& w, const known_descriptor& at) {
  if (at.capacity < w.length) {
    w.unplaced = true;
    w.now = work::stage::moved;
    return;
  }
  w.placed = true;
  std::size_t piece = 0, in_piece = 0;
  for (unsigned i = 0; i != w.descriptor->CS.SegCount; ++i) {
    const VIP_DATA_SEGMENT& from = w.descriptor->DS[i].Local;
    for (std::size_t done = 0; done != from.Length;) {
      const place_ahead& to = at.places[piece];
      const std::size_t n = std::min<std::size_t>(from.Length - done, to.length - in_piece);
      if (n != 0)
        add_part(w, peer_.put({bytes_at(from) + done, n},
                              {region_key(remote.landing, access::landing, 0, to.handle),
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
void vi::ask(work& w) {
  header h = header_of(message::asks);
  h.length = w.label;
  owner.send_now(peer_, h);
  w.now = work::stage::asking;
}

void vi::begin_rdma(work& w) {
  const VIP_ADDRESS_SEGMENT& there = w.descriptor->DS[0].Remote;
  const bool allowed = w.kind == work::what::write ? remote.rdma_write != 0 : remote.rdma_read != 0;
  if (!allowed) return finish(w, VIP_STATUS_RDMA_PROT_ERROR);
  const std::uint64_t key = region_key(remote.secret, access::rdma, remote.tag, there.Handle);
  std::uint64_t at = there.Data.AddressBits;
  for (unsigned i = 1; i != w.descriptor->CS.SegCount; ++i) {
    const VIP_DATA_SEGMENT& here = w.descriptor->DS[i].Local;
    if (here.Length == 0) continue;
    const remote_region place{key, at, here.Length};
    if (w.kind == work::what::write)
      add_part(w, peer_.put({bytes_at(here), here.Length}, place));
    else
      add_part(w, peer_.get({static_cast<std::byte*>(here.Data.Address), here.Length}, place));
    at += here.Length;
  }
  start_parts(w);
}

void vi::add_part(work& w, const detail::transfer_request& r) { w.parts.emplace_back(w, r); }

void vi::start_parts(work& w) noexcept {
  w.now = work::stage::moving;
  w.parts_left = w.parts.size() + 1;
  for (work::part& p : w.parts)
    if (p.start_held()) work::part::ended(p);
  if (--w.parts_left == 0) on_moved(w);
}

void vi::on_moved(work& w) noexcept {
  if (w.status != 0)
    finish(w, w.status);
  else
    w.now = work::stage::moved;
  pump();
}

// --- commits ------------------------------------------------------------------------------------

void vi::commit(work& w) {
  if (state != VIP_STATE_CONNECTED) return finish(w, VIP_STATUS_DESC_FLUSHED_ERROR);
  if (!w.takes_descriptor()) return finish(w, 0);
  header h = header_of(w.kind == work::what::send ? message::data : message::written);
  h.length = w.length;
  if (w.immediate) {
    h.flags |= with_immediate;
    h.immediate = w.descriptor->CS.ImmediateData;
  }
  if (w.placed) h.flags |= in_place;
  if (w.unplaced) h.flags |= unplaced;
  const bool carries = w.kind == work::what::send && !w.placed && !w.unplaced;
  w.message.resize(sizeof h + (carries ? w.length : 0));
  std::memcpy(w.message.data(), &h, sizeof h);
  if (carries) {
    std::byte* to = w.message.data() + sizeof h;
    for (unsigned i = 0; i != w.descriptor->CS.SegCount; ++i) {
      const VIP_DATA_SEGMENT& s = w.descriptor->DS[i].Local;
      if (s.Length != 0) std::memcpy(to, s.Data.Address, s.Length);
      to += s.Length;
    }
  }
  w.now = work::stage::committing;
  w.sent.emplace(w, peer_.post_bytes(am{handler_number}, w.message));
  if (w.sent->start_held()) on_committed(w, w.sent->status);
}

void vi::on_committed(work& w, errc status) noexcept {
  if (status != errc::ok)
    finish(w, VIP_STATUS_TRANSPORT_ERROR);
  else if (attributes.ReliabilityLevel != VIP_SERVICE_RELIABLE_RECEPTION || w.label < confirmed_)
    finish(w, 0);
  else if (state != VIP_STATE_CONNECTED)
    finish(w, VIP_STATUS_DESC_FLUSHED_ERROR);
  else
    w.now = work::stage::unconfirmed;
  pump();
}

/// In the handler of messages, as on_refused.
void vi::on_arrived(std::uint32_t messages) noexcept {
  confirmed_ = messages;
  for (work* w : works_) {
    if (w->now != work::stage::unconfirmed) continue;
    if (w->label >= messages) break;
    finish(*w, 0);
  }
  publish_sends();
}

void vi::on_refused(std::uint32_t label) noexcept {
  for (work* w : works_)
    if (w->takes_descriptor() && w->label == label &&
        (w->now == work::stage::unconfirmed || w->now == work::stage::committing))
      w->status = VIP_STATUS_REMOTE_DESC_ERROR;
  abandon(VIP_STATUS_DESC_FLUSHED_ERROR);
  publish_sends();
}

/// The connection has ended: no answer will come.
void vi::abandon(std::uint32_t status) noexcept {
  for (work* w : works_)
    if (w->now == work::stage::unconfirmed || w->now == work::stage::asking)
      finish(*w, w->status != 0 ? w->status : status);
}

/// The peer has answered the question of a work. Not in the handler of messages.
void vi::go_on_after_answer() {
  for (std::size_t i = 0; i != started_; ++i) {
    work& w = *works_[i];
    if (w.now != work::stage::asking) continue;
    while (!known_.empty() && known_.front().label < w.label) known_.pop_front();
    if (!known_.empty() && known_.front().label == w.label) {
      place(w, known_.front());
    } else {
      w.unplaced = true;
      w.now = work::stage::moved;
    }
    break;
  }
}

}  // namespace weft::vipl
