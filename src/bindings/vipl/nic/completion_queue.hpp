// SPDX-License-Identifier: Apache-2.0
// A completion queue, which many VIs share.
#pragma once

#include <cstddef>
#include <memory>

#include "bindings/vipl/base/object.hpp"
#include "bindings/vipl/base/ring.hpp"
#include "bindings/vipl/nic/service.hpp"

namespace weft::vipl {

class nic;
class vi;

/// A call of VipCQNotify.
struct queue_notification final : service::job {
  queue_notification(VIP_CQ_CALLBACK h, VIP_PVOID c) noexcept : handler(h), context(c) {}
  void run() override { handler(context, nic, of, receives ? VIP_TRUE : VIP_FALSE); }

  const VIP_CQ_CALLBACK handler;
  const VIP_PVOID context;
  VIP_NIC_HANDLE nic = nullptr;
  VIP_VI_HANDLE of = nullptr;
  bool receives = false;
};

/// With the NIC locked.
class completion_queue final : public object_of<object::kind::completion_queue> {
 public:
  struct entry {
    vi* at;
    bool receives;
  };
  completion_queue(nic& of, std::size_t limit) noexcept : owner(of), limit_(limit) {}

  /// A descriptor is about to be posted: takes the memory for its entry. \throws std::bad_alloc
  void expect();
  /// A descriptor of that queue, which was expected, is complete.
  void push(const entry& e) noexcept;
  bool pop(entry& e) noexcept {
    if (entries_.empty()) return false;
    e = entries_.pop();
    return true;
  }
  bool empty() const noexcept { return entries_.empty(); }
  /// \return false: there are more entries
  bool resize(std::size_t limit) noexcept;
  void notify(std::unique_ptr<queue_notification> n) noexcept;
  void forget(const vi& v) noexcept;  ///< drops the entries of a VI that ends
  void end_notifications() noexcept;

  nic& owner;
  std::size_t users = 0;  // queues of VIs

 private:
  void call_notified() noexcept;

  ring<entry> entries_;
  std::size_t expected_ = 0;  // entries that will come
  service::job_list notified_;
  std::size_t limit_;
  bool overrun_ = false;
};

}  // namespace weft::vipl
