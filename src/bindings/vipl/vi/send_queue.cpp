// SPDX-License-Identifier: Apache-2.0
// The order of the send queue. A work begins when its place is known, commits after all before it,
// and is published when all before it are.
//
//   short send         data, with the bytes; where nothing is before it, it needs no work
//   to 48 KiB          data, and pieces
//   long send          puts to the receive descriptor that has travelled ahead; data
//                      without one: asks, and then the same
//   RDMA write         puts; with immediate data also: written
//   RDMA read          gets
#include "bindings/vipl/vi/send_queue.hpp"

#include "bindings/vipl/vi/vi.hpp"

namespace weft::vipl {

namespace {

work::what kind_of(const VIP_DESCRIPTOR& d) noexcept {
  switch (d.CS.Control & VIP_CONTROL_OP_MASK) {
    case VIP_CONTROL_OP_RDMAWRITE:
      return work::what::write;
    case VIP_CONTROL_OP_RDMAREAD:
      return work::what::read;
    default:
      return work::what::send;
  }
}

std::uint32_t status_of(work::what kind) noexcept {
  switch (kind) {
    case work::what::write:
      return VIP_STATUS_OP_RDMA_WRITE;
    case work::what::read:
      return VIP_STATUS_OP_RDMA_READ;
    default:
      return VIP_STATUS_OP_SEND;
  }
}

rdma_fault fault_of(const work& w) noexcept {
  if (w.kind == work::what::send || (w.status & VIP_STATUS_RDMA_PROT_ERROR) == 0)
    return rdma_fault::none;
  return w.kind == work::what::write ? rdma_fault::write_denied : rdma_fault::read_denied;
}

}  // namespace

void send_queue::restart() noexcept {
  next_label_ = confirmed_ = 0;
  answered_.reset();
  known_.restart();
}

void send_queue::post(VIP_DESCRIPTOR& d, std::uint32_t bad) {
  works_.reserve(works_.size() + 1);
  if (free_works_.empty()) add_work();
  finished.expect();
  const work::what kind = kind_of(d);
  std::uint32_t length = 0;
  if (bad == 0)
    for (unsigned i = kind == work::what::send ? 0 : 1; i != d.CS.SegCount; ++i)
      length += segment_of(d, i).Local.Length;
  d.CS.Status = 0;
  if (bad == 0 && kind == work::what::send && send_at_once(d, length)) return;
  work& w = *free_works_.back();
  free_works_.pop_back();
  w.clear();
  w.descriptor = &d;
  w.kind = kind;
  w.immediate = (d.CS.Control & VIP_CONTROL_IMMEDIATE) != 0;
  w.fenced = (d.CS.Control & VIP_CONTROL_QFENCE) != 0;
  w.length = length;
  w.status = bad;
  works_.push(&w);
  advance();
}

bool send_queue::uses(const registration& r, VIP_MEM_HANDLE handle) const noexcept {
  for (std::size_t i = 0; i != works_.size(); ++i) {
    const work& w = *works_[i];
    if (vipl::uses(*w.descriptor, w.kind == work::what::send ? 0 : 1, r, handle)) return true;
  }
  return false;
}

void send_queue::add_work() {
  all_works_.reserve(all_works_.size() + 1);
  free_works_.reserve(all_works_.size() + 1);
  all_works_.push_back(std::make_unique<work>(*this));
  free_works_.push_back(all_works_.back().get());
}

void send_queue::advance() noexcept {
  if (advancing_) {
    again_ = true;
    return;
  }
  advancing_ = true;
  bool first_waits = false;  // a fenced one, which the completions before it may let begin
  do {
    again_ = false;
    try {
      while (advance_once()) continue;
    } catch (const std::exception&) {
      // No memory for its parts. It has a number, so later messages cannot do without it.
      work& w = *works_[started_];
      w.status |= VIP_STATUS_TRANSPORT_ERROR;
      vi_.fail(VIP_ERROR_CATASTROPHIC, w.descriptor, true);
    }
    first_waits = publish() && started_ < works_.size();
  } while (again_ || first_waits);
  advancing_ = false;
}

/// \return whether something has changed
bool send_queue::advance_once() {
  while (started_ < works_.size()) {
    work& w = *works_[started_];
    if (!vi_.connection.connected() || w.status != 0) {
      finish(w, w.status != 0 ? w.status : std::uint32_t{VIP_STATUS_DESC_FLUSHED_ERROR});
    } else {
      const bool is_next = started_ == committed_;
      if (w.fenced && started_ != 0) break;
      if (!is_next && !may_begin_early(w)) break;
      begin(w);
    }
    ++started_;
  }
  if (committed_ == started_ || (committed_ != 0 && works_[committed_ - 1]->has_more_pieces()))
    return false;
  work& w = *works_[committed_];
  if (w.now == work::stage::moved) {
    ++committed_;
    try {
      commit(w);
    } catch (const std::exception&) {  // no memory
      finish(w, VIP_STATUS_TRANSPORT_ERROR);
      vi_.fail(VIP_ERROR_CATASTROPHIC, w.descriptor, true);
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
bool send_queue::may_begin_early(const work& w) const noexcept {
  const work& first = *works_[committed_];
  if (w.kind != work::what::send || first.kind != work::what::send) return false;
  // Its descriptor may have come: a later work would drop it from `known_`.
  if (first.now == work::stage::asking) return false;
  return w.length <= longest_in_pieces || known_.reaches(next_label_);
}

/// \return whether one has completed
bool send_queue::publish() noexcept {
  const std::size_t before = works_.size();
  VIP_DESCRIPTOR* culprit = nullptr;
  rdma_fault fault = rdma_fault::none;
  while (!works_.empty() && works_.front()->now == work::stage::finished) {
    work& w = *works_.pop();
    if (committed_ != 0) --committed_;
    if (started_ != 0) --started_;
    w.descriptor->CS.Length = w.length;
    w.descriptor->CS.Status = w.status | status_of(w.kind);
    if (w.status != 0 && !culprit) {
      culprit = w.descriptor;
      fault = fault_of(w);
    }
    if (w.kind != work::what::send) report_rdma(w);
    finished.complete(*w.descriptor);
    free_works_.push_back(&w);
  }
  const bool some = works_.size() != before;
  // What goes wrong here ends the connection, unless the VI is unreliable.
  if (culprit && vi_.reliable()) vi_.fail(VIP_ERROR_CONN_LOST, culprit, true, fault);
  return some;
}

/// What the error handlers are to learn of an RDMA operation besides the end of the connection.
void send_queue::report_rdma(const work& w) noexcept {
  if ((w.status & VIP_STATUS_TRANSPORT_ERROR) != 0)
    vi_.report(VIP_ERROR_RDMA_TRANSPORT, w.descriptor);
  if (fault_of(w) == rdma_fault::write_denied && !vi_.reliable() && vi_.connection.connected())
    vi_.write_was_denied();
}

void send_queue::finish(work& w, std::uint32_t status) noexcept {
  w.status = status;
  w.now = work::stage::finished;
}

// --- answers ------------------------------------------------------------------------------------

void send_queue::on_arrived(std::uint32_t messages) noexcept {
  confirmed_ = messages;
  for (std::size_t i = 0; i != committed_; ++i) {
    work& w = *works_[i];
    if (w.now != work::stage::unconfirmed) continue;
    if (!comes_before(w.label, messages)) break;
    finish(w, 0);
  }
  publish();
  if (started_ < works_.size()) vi_.settle_soon();  // a fenced one may begin
}

void send_queue::on_refused(std::uint32_t label) noexcept {
  for (std::size_t i = 0; i != works_.size(); ++i)
    if (work& w = *works_[i];
        w.takes_descriptor() && w.label == label &&
        (w.now == work::stage::unconfirmed || w.now == work::stage::committing))
      w.status = VIP_STATUS_REMOTE_DESC_ERROR;
  abandon(VIP_STATUS_DESC_FLUSHED_ERROR);
  publish();
}

void send_queue::abandon(std::uint32_t status) noexcept {
  for (std::size_t i = 0; i != works_.size(); ++i)
    if (work& w = *works_[i]; w.now == work::stage::unconfirmed || w.now == work::stage::asking)
      finish(w, w.status != 0 ? w.status : status);
}

bool send_queue::in_flight() const noexcept {
  for (std::size_t i = 0; i != works_.size(); ++i)
    if (works_[i]->now == work::stage::moving || works_[i]->now == work::stage::committing)
      return true;
  return false;
}

bool send_queue::writes_now() const noexcept {
  for (std::size_t i = 0; i != works_.size(); ++i)
    if (works_[i]->kind == work::what::write && works_[i]->now == work::stage::moving) return true;
  return false;
}

}  // namespace weft::vipl
