// SPDX-License-Identifier: Apache-2.0
// The send queue of a VI. A work begins when its place is known, commits after all before it, and
// is published when all before it are.
//
//   short send         data, with the bytes
//   long send          puts to the receive descriptor that has travelled ahead; data
//                      without one: asks, and then the same
//   RDMA write         puts; with immediate data also: written
//   RDMA read          gets
#include <cstring>

#include "bindings/vipl/vi.hpp"

namespace weft::vipl {

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

void vi::advance() noexcept {
  if (advancing_) {
    again_ = true;
    return;
  }
  advancing_ = true;
  do {
    again_ = false;
    try {
      while (advance_once()) continue;
    } catch (const std::exception&) {
      // No memory for its parts. It has a number, so later messages cannot do without it.
      work& w = *works_[started_];
      w.status |= VIP_STATUS_TRANSPORT_ERROR;
      fail(VIP_ERROR_CONN_LOST, w.descriptor, true);
    }
    publish_sends();
  } while (again_);
  advancing_ = false;
}

/// \return whether something has changed
bool vi::advance_once() {
  while (started_ < works_.size()) {
    work& w = *works_[started_];
    if (state != VIP_STATE_CONNECTED || w.status != 0) {
      finish(w, w.status != 0 ? w.status : std::uint32_t{VIP_STATUS_DESC_FLUSHED_ERROR});
    } else {
      const bool is_next = started_ == committed_;
      if (w.fenced && started_ != 0) break;
      if (!is_next && !may_begin_early(w)) break;
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
      fail(VIP_ERROR_CONN_LOST, w.descriptor, true);
    }
    return true;
  }
  if (w.now == work::stage::finished) {
    ++committed_;
    return true;
  }
  return false;
}

/// Before works in front of it have committed. An RDMA write takes the number of a message only
/// then: it may be refused.
bool vi::may_begin_early(const work& w) noexcept {
  if (w.kind != work::what::send || works_[committed_]->kind != work::what::send) return false;
  if (w.length <= longest_inline) return true;
  // It would forget the descriptors before its own, one of which is the answer.
  if (works_[committed_]->now == work::stage::asking) return false;
  return !known_.empty() && !comes_before(known_.back().number, next_label_ - dropped_there_);
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

// --- commits ------------------------------------------------------------------------------------

void vi::commit(work& w) {
  if (state != VIP_STATE_CONNECTED) return finish(w, VIP_STATUS_DESC_FLUSHED_ERROR);
  if (!w.takes_descriptor()) return finish(w, 0);
  if (w.kind == work::what::write) w.label = next_label_++;
  header h = header_of(w.kind == work::what::send ? message::data : message::written);
  h.length = w.length;
  if (w.immediate) {
    h.flags |= with_immediate;
    h.immediate = w.descriptor->CS.ImmediateData;
  }
  if (w.placed) h.flags |= in_place;
  if (w.unplaced) h.flags |= unplaced;
  const bool carries = w.kind == work::what::send && !w.placed && !w.unplaced;
  w.message.resize(sizeof h + (carries ? w.length : w.placed ? sizeof w.place : 0));
  std::memcpy(w.message.data(), &h, sizeof h);
  if (w.placed) std::memcpy(w.message.data() + sizeof h, &w.place, sizeof w.place);
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
  else if (w.status != 0 || attributes.ReliabilityLevel != VIP_SERVICE_RELIABLE_RECEPTION ||
           comes_before(w.label, confirmed_))
    finish(w, w.status);
  else if (state != VIP_STATE_CONNECTED)
    finish(w, VIP_STATUS_DESC_FLUSHED_ERROR);
  else
    w.now = work::stage::unconfirmed;
  advance();
}

/// In the handler of messages, as on_refused.
void vi::on_arrived(std::uint32_t messages) noexcept {
  confirmed_ = messages;
  for (work* w : works_) {
    if (w->now != work::stage::unconfirmed) continue;
    if (!comes_before(w->label, messages)) break;
    finish(*w, 0);
  }
  publish_sends();
  if (started_ < works_.size()) owner.settle_soon(*this);  // a fenced one may begin now
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

}  // namespace weft::vipl
