// SPDX-License-Identifier: Apache-2.0
// The threads of a NIC that wait: one of them makes progress, and the others follow it.
#include <utility>

#include "bindings/vipl/nic/nic.hpp"

namespace weft::vipl {

/// A tag of messages that are never sent.
constexpr tag wake_tag{0x5649504c00000002};

void nic::wake_followers() noexcept {
  const std::lock_guard lock(turn_);
  ++generation_;
  turned_.notify_all();
}

bool nic::wait_for(time_point until, bool (*over)(void*), void* argument) {
  const bool for_application = !service_.runs_here();
  if (for_application) service_.application_waits(1);
  std::unique_lock lock(turn_);
  std::optional<bool> result;
  while (led_ && !result) result = follow(lock, until, over, argument);
  if (!result) {
    led_ = true;
    led_by_service_ = !for_application;
    lock.unlock();
    struct leading {
      nic& owner;
      bool (*over)(void*);
      void* argument;
    } asked{*this, over, argument};
    result = loop_.wait(
        until,
        [](void* a) {
          auto& it = *static_cast<leading*>(a);
          it.owner.leads_ = true;
          it.owner.leader_ = std::this_thread::get_id();
          it.owner.settle_now();
          return it.over(it.argument);
        },
        &asked);
    {
      const locked no_more(*this);
      leads_ = false;
    }
    lock.lock();
    led_ = led_by_service_ = false;
    if (followers_ != 0) turned_.notify_all();
  }
  lock.unlock();
  if (for_application) service_.application_waits(-1);
  return *result;
}

/// Waits for an event, or for the leader's place. \return nothing: look again
std::optional<bool> nic::follow(std::unique_lock<std::mutex>& lock, time_point until,
                                bool (*over)(void*), void* argument) {
  ++followers_;
  const std::uint64_t seen = generation_;
  const bool ask = led_by_service_;
  lock.unlock();
  if (ask) wake_leader();
  const auto look = [&] {
    const locked at(*this);
    return over(argument);
  };
  std::optional<bool> result;
  if (look()) result = true;
  lock.lock();
  if (!result) {
    const auto changed = [&] { return !led_ || generation_ != seen; };
    if (until == time_point::max())
      turned_.wait(lock, changed);
    else if (!turned_.wait_until(lock, until, changed))
      result = false;
  }
  --followers_;
  return result;
}

/// An operation that ends wakes the thread that sleeps; a message to the handler does not.
void nic::wake_leader() noexcept {
  struct bell final : recv_operation {
    explicit bell(const recv_request& r) noexcept
        : recv_operation(r, [](operation& op) noexcept { static_cast<bell&>(op).rung = true; }) {}
    bool rung = false;
  } once(context_->recv(mutable_buffer{}, wake_tag));
  if (loop_.start(once)) return;
  loop_.cancel(once);
  for (bool rung = false; !rung;) {
    external_loop::progress_guard hold(loop_);
    hold.poll();
    rung = once.rung;
  }
}

}  // namespace weft::vipl
