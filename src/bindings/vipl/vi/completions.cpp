// SPDX-License-Identifier: Apache-2.0
#include "bindings/vipl/vi/completions.hpp"

#include <atomic>
#include <utility>

#include "bindings/vipl/vi/vi.hpp"

namespace weft::vipl {

completions::completions(vi& of, bool of_receives, completion_queue* queue)
    : vi_(of), of_receives_(of_receives), queue_(queue) {
  if (queue_) ++queue_->users;
}

completions::~completions() {
  if (queue_) {
    queue_->forget(vi_);
    --queue_->users;
  }
  while (std::unique_ptr<service::job> n = notified_.pop()) vi_.owner.its_service().attend(-1);
}

void completions::expect() {
  ready_.reserve(posted_ + 1);
  if (queue_) queue_->expect();
  ++posted_;
}

void completions::complete(VIP_DESCRIPTOR& d) noexcept {
  std::atomic_ref<VIP_UINT32> status(d.CS.Status);
  status.store(status.load(std::memory_order_relaxed) | VIP_STATUS_DONE, std::memory_order_release);
  ready_.push(&d);
  if (queue_) queue_->push({&vi_, of_receives_});
  if (!notified_.empty()) call_notified();
  vi_.owner.note_event();
}

VIP_DESCRIPTOR& completions::pop() noexcept {
  --posted_;
  return *ready_.pop();
}

VIP_RETURN completions::take(VIP_DESCRIPTOR** d) noexcept {
  *d = &pop();
  return ((*d)->CS.Status & VIP_STATUS_ERROR_MASK) != 0 ? VIP_DESCRIPTOR_ERROR : VIP_SUCCESS;
}

void completions::notify(std::unique_ptr<vi_notification> n) noexcept {
  n->nic = vi_.owner.handle();
  n->of = vi_.handle();
  notified_.push(std::move(n));
  call_notified();
}

void completions::call_notified() noexcept {
  while (!notified_.empty() && any()) {
    std::unique_ptr<service::job> n = notified_.pop();
    static_cast<vi_notification&>(*n).descriptor = &pop();
    vi_.owner.its_service().attend(-1);
    vi_.owner.run_soon(std::move(n));
  }
}

}  // namespace weft::vipl
