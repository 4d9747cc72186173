// SPDX-License-Identifier: Apache-2.0
// Completion queues, and their calls of vipl.h.
#include "bindings/vipl/nic/completion_queue.hpp"

#include <utility>

#include "bindings/vipl/vi/vi.hpp"

namespace weft::vipl {

void completion_queue::expect() {
  entries_.reserve(entries_.size() + expected_ + 1);
  ++expected_;
}

void completion_queue::push(const entry& e) noexcept {
  --expected_;
  entries_.push(e);
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

void completion_queue::notify(std::unique_ptr<queue_notification> n) noexcept {
  n->nic = owner.handle();
  notified_.push(std::move(n));
  call_notified();
}

void completion_queue::call_notified() noexcept {
  entry e;
  while (!notified_.empty() && pop(e)) {
    std::unique_ptr<service::job> next = notified_.pop();
    auto& n = static_cast<queue_notification&>(*next);
    n.of = e.at->handle();
    n.receives = e.receives;
    owner.its_service().attend(-1);
    owner.run_soon(std::move(next));
  }
}

void completion_queue::forget(const vi& v) noexcept {
  entries_.erase_if([&v](const entry& e) { return e.at == &v; });
}

void completion_queue::end_notifications() noexcept {
  while (notified_.pop()) owner.its_service().attend(-1);
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
    auto q = std::make_unique<completion_queue>(*n, entries);
    const VIP_CQ_HANDLE its = q->handle();
    const nic::locked lock(*n);
    n->queues.add(std::move(q));
    *made = its;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE handle) {
  completion_queue* const q = object::at<completion_queue>(handle);
  if (!q) return VIP_INVALID_PARAMETER;
  const nic::locked lock(q->owner);
  if (q->users != 0) return VIP_ERROR_RESOURCE;
  q->end_notifications();
  q->owner.queues.take(*q);
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
    auto n = std::make_unique<queue_notification>(handler, context);
    q->owner.its_service().attend(1);
    const nic::locked lock(q->owner);
    q->notify(std::move(n));
    return VIP_SUCCESS;
  });
}
