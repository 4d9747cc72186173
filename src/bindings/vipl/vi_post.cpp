// SPDX-License-Identifier: Apache-2.0
// Posting descriptors and taking those that are complete.
#include <atomic>
#include <cstring>

#include "bindings/vipl/vi.hpp"

namespace weft::vipl {

namespace {

bool aligned(const VIP_DESCRIPTOR* d) noexcept {
  return reinterpret_cast<std::uintptr_t>(d) % VIP_DESCRIPTOR_ALIGNMENT == 0;
}

}  // namespace

/// \return bits of errors
std::uint32_t vi::check(const VIP_DESCRIPTOR& d, bool of_receive) noexcept {
  const unsigned operation = d.CS.Control & VIP_CONTROL_OP_MASK;
  const bool rdma = operation != VIP_CONTROL_OP_SENDRECV;
  if (d.CS.SegCount > most_segments || (d.CS.Control & VIP_CONTROL_RESERVED) != 0 ||
      operation == VIP_CONTROL_OP_RESERVED || (rdma && (of_receive || d.CS.SegCount == 0)) ||
      (operation == VIP_CONTROL_OP_RDMAREAD && (d.CS.Control & VIP_CONTROL_IMMEDIATE) != 0))
    return VIP_STATUS_FORMAT_ERROR;
  std::uint64_t total = 0;
  for (unsigned i = rdma ? 1 : 0; i != d.CS.SegCount; ++i) {
    const VIP_DATA_SEGMENT& s = d.DS[i].Local;
    total += s.Length;
    if (s.Length != 0 && !owner.memory.allows(s.Handle, s.Data.Address, s.Length, tag()))
      return VIP_STATUS_PROTECTION_ERROR;
  }
  if (total > longest_transfer || (!of_receive && total > attributes.MaxTransferSize))
    return VIP_STATUS_LENGTH_ERROR;
  if (operation == VIP_CONTROL_OP_RDMAREAD && attributes.ReliabilityLevel == VIP_SERVICE_UNRELIABLE)
    return VIP_STATUS_FORMAT_ERROR;
  return 0;
}

VIP_RETURN vi::post_send(VIP_DESCRIPTOR* d, VIP_MEM_HANDLE handle) {
  if (!d || !aligned(d)) return VIP_INVALID_PARAMETER;
  const nic::locked lock(owner);
  if (state == VIP_STATE_IDLE || state == VIP_STATE_CONNECT_PENDING) return VIP_INVALID_STATE;
  const registration* const in = owner.memory.find(handle);
  if (!in || !memory_table::contains(*in, d, sizeof(VIP_CONTROL_SEGMENT))) {
    owner.raise({owner.handle(), this->handle(), nullptr, d, 0, VIP_RESOURCE_DESCRIPTOR,
                 VIP_ERROR_POST_DESC});
    return VIP_INVALID_PARAMETER;
  }
  const std::uint32_t bad =
      state == VIP_STATE_ERROR ? VIP_STATUS_DESC_FLUSHED_ERROR : check(*d, false);
  work& w = take_work();
  works_.push_back(&w);
  ++sends.posted;
  d->CS.Status = 0;
  w.descriptor = d;
  const unsigned operation = d->CS.Control & VIP_CONTROL_OP_MASK;
  w.kind = operation == VIP_CONTROL_OP_RDMAWRITE  ? work::what::write
           : operation == VIP_CONTROL_OP_RDMAREAD ? work::what::read
                                                  : work::what::send;
  w.immediate = (d->CS.Control & VIP_CONTROL_IMMEDIATE) != 0;
  w.fenced = (d->CS.Control & VIP_CONTROL_QFENCE) != 0;
  w.length = 0;
  if (bad == 0)
    for (unsigned i = w.kind == work::what::send ? 0 : 1; i != d->CS.SegCount; ++i)
      w.length += d->DS[i].Local.Length;
  w.status = bad;
  advance();
  return VIP_SUCCESS;
}

VIP_RETURN vi::post_receive(VIP_DESCRIPTOR* d, VIP_MEM_HANDLE handle) {
  if (!d || !aligned(d)) return VIP_INVALID_PARAMETER;
  {
    const nic::locked lock(owner);
    const registration* const in = owner.memory.find(handle);
    if (!in || !memory_table::contains(*in, d, sizeof(VIP_CONTROL_SEGMENT))) {
      owner.raise({owner.handle(), this->handle(), nullptr, d, 0, VIP_RESOURCE_DESCRIPTOR,
                   VIP_ERROR_POST_DESC});
      return VIP_INVALID_PARAMETER;
    }
    std::uint32_t bad = check(*d, true);
    if (state == VIP_STATE_ERROR) bad = VIP_STATUS_DESC_FLUSHED_ERROR;
    d->CS.Status = 0;
    if (bad != 0) {
      // Complete at once: it would have taken no message.
      ++receives.posted;
      d->CS.Length = 0;
      d->CS.Status = bad | VIP_STATUS_OP_RECEIVE;
      complete(receives, d, true);
      if ((bad & VIP_STATUS_DESC_FLUSHED_ERROR) == 0 &&
          attributes.ReliabilityLevel != VIP_SERVICE_UNRELIABLE)
        fail(VIP_ERROR_POST_DESC, d, true);
      return VIP_SUCCESS;
    }
    std::uint64_t room = 0;
    for (unsigned i = 0; i != d->CS.SegCount; ++i) room += d->DS[i].Local.Length;
    if (room <= longest_inline || shows(*d)) {
      posted_.push_back({d, static_cast<std::uint32_t>(room)});
      ++receives.posted;
      if (worth_sending_ahead()) send_ahead_from(comes_before(told_, taken_) ? taken_ : told_, 0);
      return VIP_SUCCESS;
    }
  }
  show(*d);
  return post_receive(d, handle);
}

// --- completions --------------------------------------------------------------------------------

/// Its Status is set but for the bit that says so.
void vi::complete(completed& of, VIP_DESCRIPTOR* d, bool receive) noexcept {
  std::atomic_ref<VIP_UINT32> status(d->CS.Status);
  status.store(status.load(std::memory_order_relaxed) | VIP_STATUS_DONE, std::memory_order_release);
  of.ready.push_back(d);
  if (of.queue) of.queue->push({this, receive});
  if (!of.notified.empty()) call_notified(of);
  owner.note_event();
}

void vi::call_notified(completed& of) {
  while (!of.notified.empty() && !of.ready.empty()) {
    const vi_notification n = of.notified.front();
    of.notified.pop_front();
    VIP_DESCRIPTOR* const d = of.ready.front();
    of.ready.pop_front();
    --of.posted;
    owner.its_service().attend(-1);
    owner.run_soon(
        [n, d, at = owner.handle(), self = handle()] { n.handler(n.context, at, self, d); });
  }
}

void vi::notify(completed& of, const vi_notification& n) {
  owner.its_service().attend(1);
  const nic::locked lock(owner);
  of.notified.push_back(n);
  call_notified(of);
}

namespace {

VIP_RETURN take(completed& of, VIP_DESCRIPTOR** d) noexcept {
  *d = of.ready.front();
  of.ready.pop_front();
  --of.posted;
  return ((*d)->CS.Status & VIP_STATUS_ERROR_MASK) != 0 ? VIP_DESCRIPTOR_ERROR : VIP_SUCCESS;
}

}  // namespace

VIP_RETURN vi::done(completed& of, VIP_DESCRIPTOR** d) {
  {
    nic::locked lock(owner);
    if (of.ready.empty()) lock.poll();
    if (!of.ready.empty()) return take(of, d);
  }
  owner.back_off();
  *d = nullptr;
  return VIP_NOT_DONE;
}

VIP_RETURN vi::wait(completed& of, time_point until, VIP_DESCRIPTOR** d) {
  *d = nullptr;
  VIP_RETURN result = VIP_NOT_DONE;
  const bool in_time = owner.wait(until, [&] {
    if (!of.ready.empty()) {
      result = take(of, d);
      return true;
    }
    // Nothing will come that was not posted, and nothing can.
    return of.posted == 0 && state != VIP_STATE_CONNECTED;
  });
  return in_time ? result : VIP_TIMEOUT;
}

}  // namespace weft::vipl
