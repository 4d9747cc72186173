// SPDX-License-Identifier: Apache-2.0
// Completion queues, and their calls of vipl.h.
#include "bindings/vipl/completion_queue.hpp"

#include <algorithm>

#include "bindings/vipl/vi.hpp"

namespace weft::vipl {

void completion_queue::push(const entry& e) {
  entries_.push_back(e);
  if (entries_.size() > limit_ && !overrun_) {
    overrun_ = true;
    owner.raise({owner.handle(), e.at->handle(), handle(), nullptr, 0, VIP_RESOURCE_CQ,
                 VIP_ERROR_VI_OVERRUN});
  }
  if (!notified_.empty()) call_notified();
}

bool completion_queue::resize(std::size_t limit) noexcept {
  if (entries_.size() > limit) return false;
  limit_ = limit;
  overrun_ = false;
  return true;
}

void completion_queue::notify(const notification& n) {
  notified_.push_back(n);
  call_notified();
}

void completion_queue::call_notified() {
  while (!notified_.empty() && !entries_.empty()) {
    const notification n = notified_.front();
    notified_.pop_front();
    const entry e = entries_.front();
    entries_.pop_front();
    owner.its_service().attend(-1);
    owner.run_soon([n, at = owner.handle(), v = e.at->handle(), receives = e.receives] {
      n.handler(n.context, at, v, receives ? VIP_TRUE : VIP_FALSE);
    });
  }
}

void completion_queue::forget(const vi& v) noexcept {
  std::erase_if(entries_, [&v](const entry& e) { return e.at == &v; });
}

std::size_t completion_queue::end_notifications() noexcept {
  const std::size_t n = notified_.size();
  notified_.clear();
  return n;
}

}  // namespace weft::vipl

using namespace weft::vipl;

namespace {

VIP_RETURN tell(const completion_queue::entry& e, VIP_VI_HANDLE* v,
                VIP_BOOLEAN* receives) noexcept {
  *v = e.at->handle();
  *receives = e.receives ? VIP_TRUE : VIP_FALSE;
  return VIP_SUCCESS;
}

}  // namespace

VIP_RETURN VipCreateCQ(VIP_NIC_HANDLE of, VIP_ULONG entries, VIP_CQ_HANDLE* made) {
  nic* const n = object::at<nic>(of);
  if (!n || !made || entries == 0) return VIP_INVALID_PARAMETER;
  return guarded([&] {
    *made = (new completion_queue(*n, entries))->handle();
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE handle) {
  completion_queue* const q = object::at<completion_queue>(handle);
  if (!q) return VIP_INVALID_PARAMETER;
  std::size_t unheard = 0;
  {
    const nic::locked lock(q->owner);
    if (q->users != 0) return VIP_ERROR_RESOURCE;
    unheard = q->end_notifications();
  }
  if (unheard != 0) q->owner.its_service().attend(-static_cast<int>(unheard));
  delete q;
  return VIP_SUCCESS;
}

VIP_RETURN VipResizeCQ(VIP_CQ_HANDLE handle, VIP_ULONG entries) {
  completion_queue* const q = object::at<completion_queue>(handle);
  if (!q || entries == 0) return VIP_INVALID_PARAMETER;
  const nic::locked lock(q->owner);
  return q->resize(entries) ? VIP_SUCCESS : VIP_ERROR_RESOURCE;
}

VIP_RETURN VipCQDone(VIP_CQ_HANDLE handle, VIP_VI_HANDLE* v, VIP_BOOLEAN* receives) {
  completion_queue* const q = object::at<completion_queue>(handle);
  if (!q || !v || !receives) return VIP_INVALID_PARAMETER;
  {
    nic::locked lock(q->owner);
    if (q->empty()) lock.poll();
    completion_queue::entry e;
    if (q->pop(e)) return tell(e, v, receives);
  }
  q->owner.back_off();
  return VIP_NOT_DONE;
}

VIP_RETURN VipCQWait(VIP_CQ_HANDLE handle, VIP_ULONG timeout, VIP_VI_HANDLE* v,
                     VIP_BOOLEAN* receives) {
  completion_queue* const q = object::at<completion_queue>(handle);
  if (!q || !v || !receives) return VIP_INVALID_PARAMETER;
  completion_queue::entry e;
  return guarded([&] {
    return q->owner.wait(deadline_of(timeout), [&] { return q->pop(e); }) ? tell(e, v, receives)
                                                                          : VIP_TIMEOUT;
  });
}

VIP_RETURN VipCQNotify(VIP_CQ_HANDLE handle, VIP_PVOID context, VIP_CQ_CALLBACK handler) {
  completion_queue* const q = object::at<completion_queue>(handle);
  if (!q || !handler) return VIP_INVALID_PARAMETER;
  return guarded([&] {
    q->owner.its_service().attend(1);
    const nic::locked lock(q->owner);
    q->notify({handler, context});
    return VIP_SUCCESS;
  });
}
