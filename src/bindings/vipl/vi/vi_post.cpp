// SPDX-License-Identifier: Apache-2.0
// Posting descriptors and taking those that are complete.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "bindings/vipl/vi/vi.hpp"

namespace weft::vipl {

namespace {

bool aligned(const VIP_DESCRIPTOR* d) noexcept {
  return reinterpret_cast<std::uintptr_t>(d) % VIP_DESCRIPTOR_ALIGNMENT == 0;
}

}  // namespace

/// How far a buffer of a receive reaches matters when a message arrives that needs it: programs for
/// cards give each buffer the length of the longest.
/// \param in     the registration that the descriptor is in; most buffers are there, too
/// \param memory its handle
vi::verdict vi::check(const VIP_DESCRIPTOR& d, bool of_receive, const registration& in,
                      VIP_MEM_HANDLE memory) noexcept {
  const unsigned operation = d.CS.Control & VIP_CONTROL_OP_MASK;
  const bool rdma = operation != VIP_CONTROL_OP_SENDRECV;
  if (d.CS.SegCount > most_segments || (d.CS.Control & VIP_CONTROL_RESERVED) != 0 ||
      operation == VIP_CONTROL_OP_RESERVED || (rdma && (of_receive || d.CS.SegCount == 0)) ||
      (operation == VIP_CONTROL_OP_RDMAREAD && (d.CS.Control & VIP_CONTROL_IMMEDIATE) != 0))
    return {VIP_STATUS_FORMAT_ERROR};
  if (!memory_table::contains(in, &d, size_of(d))) return {VIP_STATUS_PROTECTION_ERROR};
  std::uint64_t total = 0;
  std::uint64_t reach = 0;
  for (unsigned i = rdma ? 1 : 0; i != d.CS.SegCount; ++i) {
    const VIP_DATA_SEGMENT& s = segment_of(d, i).Local;
    if (s.Length == 0) continue;
    const registration* const r = s.Handle == memory ? &in : owner.memory.find(s.Handle);
    if (!r || !may_use(tag(), r->tag) ||
        !memory_table::contains(*r, s.Data.Address, of_receive ? 1 : s.Length))
      return {VIP_STATUS_PROTECTION_ERROR};
    if (reach == total)
      reach += std::min<std::size_t>(s.Length, memory_table::left(*r, s.Data.Address));
    total += s.Length;
  }
  if (!of_receive && total != d.CS.Length) return {VIP_STATUS_FORMAT_ERROR};
  if (total > longest_transfer || (!of_receive && total > attributes.MaxTransferSize))
    return {VIP_STATUS_LENGTH_ERROR};
  if (operation == VIP_CONTROL_OP_RDMAREAD && !reliable()) return {VIP_STATUS_FORMAT_ERROR};
  return {0, static_cast<std::uint32_t>(reach)};
}

/// \return the registration, if the descriptor is in it and it has the VI's tag; else null, and the
/// error handler learns
const registration* vi::holder_of(VIP_DESCRIPTOR* d, VIP_MEM_HANDLE memory) noexcept {
  const registration* const in = owner.memory.find(memory);
  if (in && may_use(tag(), in->tag) && memory_table::contains(*in, d, sizeof(VIP_CONTROL_SEGMENT)))
      [[likely]]
    return in;
  owner.raise(
      {owner.handle(), handle(), nullptr, d, 0, VIP_RESOURCE_DESCRIPTOR, VIP_ERROR_POST_DESC});
  return nullptr;
}

VIP_RETURN vi::post_send(VIP_DESCRIPTOR* d, VIP_MEM_HANDLE memory) {
  if (!d || !aligned(d)) return VIP_INVALID_PARAMETER;
  const nic::locked lock(owner);
  if (connection.state() == VIP_STATE_IDLE || connection.pending()) return VIP_INVALID_STATE;
  const registration* const in = holder_of(d, memory);
  if (!in) return VIP_INVALID_PARAMETER;
  sends.post(*d, connection.connected() ? check(*d, false, *in, memory).bad
                                        : std::uint32_t{VIP_STATUS_DESC_FLUSHED_ERROR});
  return VIP_SUCCESS;
}

VIP_RETURN vi::post_receive(VIP_DESCRIPTOR* d, VIP_MEM_HANDLE memory) {
  if (!d || !aligned(d)) return VIP_INVALID_PARAMETER;
  for (;;) {
    {
      const nic::locked lock(owner);
      const registration* const in = holder_of(d, memory);
      if (!in) return VIP_INVALID_PARAMETER;
      const bool broken = connection.state() == VIP_STATE_ERROR;
      const verdict v =
          broken ? verdict{VIP_STATUS_DESC_FLUSHED_ERROR} : check(*d, true, *in, memory);
      d->CS.Status = 0;
      if (v.bad != 0) {
        receives.post_wrong(*d, v.bad);
        if (!broken && reliable()) fail(VIP_ERROR_POST_DESC, d, true);
        return VIP_SUCCESS;
      }
      if (receives.may_post(*d)) {
        receives.post(*d, v.reach);
        return VIP_SUCCESS;
      }
    }
    receives.show(*d);
  }
}

// --- completions --------------------------------------------------------------------------------

void vi::notify(completions& of, VIP_VI_CALLBACK handler, VIP_PVOID context) {
  auto n = std::make_unique<vi_notification>(handler, context);
  owner.its_service().attend(1);
  const nic::locked lock(owner);
  of.notify(std::move(n));
}

VIP_RETURN vi::done(completions& of, VIP_DESCRIPTOR** d) {
  {
    nic::locked lock(owner);
    if (!of.any()) lock.poll();
    if (of.any()) return of.take(d);
  }
  owner.back_off();
  *d = nullptr;
  return VIP_NOT_DONE;
}

VIP_RETURN vi::wait(completions& of, time_point until, VIP_DESCRIPTOR** d) {
  *d = nullptr;
  VIP_RETURN result = VIP_NOT_DONE;
  const bool in_time = owner.wait(until, [&] {
    if (of.any()) {
      result = of.take(d);
      return true;
    }
    // Nothing will come that was not posted, and nothing can.
    return of.posted() == 0 && !connection.connected();
  });
  return in_time ? result : VIP_TIMEOUT;
}

}  // namespace weft::vipl
