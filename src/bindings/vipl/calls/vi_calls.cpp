// SPDX-License-Identifier: Apache-2.0
// VIs and their queues: calls of vipl.h.
#include <memory>

#include "bindings/vipl/vi/vi.hpp"

using namespace weft;
using namespace weft::vipl;

namespace {

VIP_RETURN check(const nic& n, const VIP_VI_ATTRIBUTES& a) noexcept {
  if (a.ReliabilityLevel != VIP_SERVICE_UNRELIABLE &&
      a.ReliabilityLevel != VIP_SERVICE_RELIABLE_DELIVERY &&
      a.ReliabilityLevel != VIP_SERVICE_RELIABLE_RECEPTION)
    return VIP_INVALID_RELIABILITY_LEVEL;
  if (a.MaxTransferSize > longest_transfer) return VIP_INVALID_MTU;
  if (a.QoS) return VIP_INVALID_QOS;
  if (!fits_as_tag(n, a.Ptag)) return VIP_INVALID_PTAG;
  if (a.EnableRdmaRead && a.ReliabilityLevel == VIP_SERVICE_UNRELIABLE) return VIP_INVALID_RDMAREAD;
  return VIP_SUCCESS;
}

/// \return whether the handle is null, or that of a queue of the NIC
bool queue_of(const nic& n, VIP_CQ_HANDLE handle, completion_queue*& q) noexcept {
  q = object::at<completion_queue>(handle);
  return !handle || (q && &q->owner == &n);
}

template <class Call>
VIP_RETURN on_vi(VIP_VI_HANDLE handle, Call call) noexcept {
  vi* const v = object::at<vi>(handle);
  if (!v) return VIP_INVALID_PARAMETER;
  return guarded([&] { return call(*v); });
}

/// A queue with a completion queue is waited for there: a wait here would leave its entry, and the
/// next one to take that would find no descriptor.
VIP_RETURN wait(vi& v, completions& of, VIP_ULONG timeout, VIP_DESCRIPTOR** d) {
  return of.shared() ? VIP_INVALID_PARAMETER : v.wait(of, deadline_of(timeout), d);
}

}  // namespace

VIP_RETURN VipCreateVi(VIP_NIC_HANDLE of, VIP_VI_ATTRIBUTES* attributes, VIP_CQ_HANDLE send_queue,
                       VIP_CQ_HANDLE receive_queue, VIP_VI_HANDLE* made) {
  nic* const n = object::at<nic>(of);
  completion_queue* sends = nullptr;
  completion_queue* receives = nullptr;
  if (!n || !attributes || !made || !queue_of(*n, send_queue, sends) ||
      !queue_of(*n, receive_queue, receives))
    return VIP_INVALID_PARAMETER;
  const VIP_RETURN bad = check(*n, *attributes);
  if (bad != VIP_SUCCESS) return bad;
  return guarded([&] {
    if (!attributes->Ptag) n->open_memory();
    const nic::locked lock(*n);
    auto v = std::make_unique<vi>(*n, *attributes, sends, receives);
    if (v->number == 0) return VIP_ERROR_RESOURCE;
    *made = v.release()->handle();
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipDestroyVi(VIP_VI_HANDLE handle) {
  return on_vi(handle, [](vi& v) {
    const nic::locked lock(v.owner);
    if (!v.may_connect()) return VIP_INVALID_STATE;
    if (!v.sends.empty() || !v.receives.empty()) return VIP_ERROR_RESOURCE;
    delete &v;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipQueryVi(VIP_VI_HANDLE handle, VIP_VI_STATE* state, VIP_VI_ATTRIBUTES* attributes,
                      VIP_BOOLEAN* sends_empty, VIP_BOOLEAN* receives_empty) {
  return on_vi(handle, [&](vi& v) {
    nic::locked lock(v.owner);
    lock.poll();
    if (state) *state = v.connection.state();
    if (attributes) *attributes = v.attributes;
    if (sends_empty) *sends_empty = v.sends.empty() ? VIP_TRUE : VIP_FALSE;
    if (receives_empty) *receives_empty = v.receives.empty() ? VIP_TRUE : VIP_FALSE;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE handle, VIP_VI_ATTRIBUTES* attributes) {
  if (!attributes) return VIP_INVALID_PARAMETER;
  return on_vi(handle, [&](vi& v) {
    const VIP_RETURN bad = check(v.owner, *attributes);
    if (bad != VIP_SUCCESS) return bad;
    if (!attributes->Ptag) v.owner.open_memory();
    const nic::locked lock(v.owner);
    if (!v.may_connect()) return VIP_INVALID_STATE;
    count_user(v.attributes.Ptag, -1);
    count_user(attributes->Ptag, 1);
    v.attributes = *attributes;
    return VIP_SUCCESS;
  });
}

// --- queues -------------------------------------------------------------------------------------

VIP_RETURN VipPostSend(VIP_VI_HANDLE handle, VIP_DESCRIPTOR* d, VIP_MEM_HANDLE memory) {
  return on_vi(handle, [&](vi& v) { return v.post_send(d, memory); });
}

VIP_RETURN VipPostRecv(VIP_VI_HANDLE handle, VIP_DESCRIPTOR* d, VIP_MEM_HANDLE memory) {
  return on_vi(handle, [&](vi& v) { return v.post_receive(d, memory); });
}

VIP_RETURN VipSendDone(VIP_VI_HANDLE handle, VIP_DESCRIPTOR** d) {
  if (!d) return VIP_INVALID_PARAMETER;
  return on_vi(handle, [&](vi& v) { return v.done(v.sends.finished, d); });
}

VIP_RETURN VipRecvDone(VIP_VI_HANDLE handle, VIP_DESCRIPTOR** d) {
  if (!d) return VIP_INVALID_PARAMETER;
  return on_vi(handle, [&](vi& v) { return v.done(v.receives.finished, d); });
}

VIP_RETURN VipSendWait(VIP_VI_HANDLE handle, VIP_ULONG timeout, VIP_DESCRIPTOR** d) {
  if (!d) return VIP_INVALID_PARAMETER;
  return on_vi(handle, [&](vi& v) { return wait(v, v.sends.finished, timeout, d); });
}

VIP_RETURN VipRecvWait(VIP_VI_HANDLE handle, VIP_ULONG timeout, VIP_DESCRIPTOR** d) {
  if (!d) return VIP_INVALID_PARAMETER;
  return on_vi(handle, [&](vi& v) { return wait(v, v.receives.finished, timeout, d); });
}

VIP_RETURN VipSendNotify(VIP_VI_HANDLE handle, VIP_PVOID context, VIP_VI_CALLBACK handler) {
  if (!handler) return VIP_INVALID_PARAMETER;
  return on_vi(handle, [&](vi& v) {
    v.notify(v.sends.finished, handler, context);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipRecvNotify(VIP_VI_HANDLE handle, VIP_PVOID context, VIP_VI_CALLBACK handler) {
  if (!handler) return VIP_INVALID_PARAMETER;
  return on_vi(handle, [&](vi& v) {
    v.notify(v.receives.finished, handler, context);
    return VIP_SUCCESS;
  });
}
