// SPDX-License-Identifier: Apache-2.0
// The descriptors of one of a VI's queues that are complete.
#pragma once

#include <cstddef>
#include <memory>

#include "bindings/vipl/base/ring.hpp"
#include "bindings/vipl/nic/completion_queue.hpp"
#include "bindings/vipl/nic/service.hpp"

namespace weft::vipl {

class vi;

/// A call of VipSendNotify or VipRecvNotify: calls the handler with the descriptor.
struct vi_notification final : service::job {
  vi_notification(VIP_VI_CALLBACK h, VIP_PVOID c) noexcept : handler(h), context(c) {}
  void run() override { handler(context, nic, of, descriptor); }

  const VIP_VI_CALLBACK handler;
  const VIP_PVOID context;
  VIP_NIC_HANDLE nic = nullptr;
  VIP_VI_HANDLE of = nullptr;
  VIP_DESCRIPTOR* descriptor = nullptr;
};

/// In the order of their completion. With the NIC locked.
class completions {
 public:
  /// \param queue the completion queue of the VI's queue; null: none
  completions(vi& of, bool of_receives, completion_queue* queue);
  completions(const completions&) = delete;
  completions& operator=(const completions&) = delete;
  ~completions();

  /// A descriptor is about to be posted: takes the memory that its completion will need.
  /// \throws std::bad_alloc
  void expect();
  /// A descriptor that was expected is complete. Its Status is set but for the bit that says so.
  void complete(VIP_DESCRIPTOR& d) noexcept;

  /// They are reported by a completion queue.
  bool shared() const noexcept { return queue_ != nullptr; }
  bool any() const noexcept { return !ready_.empty(); }
  std::size_t posted() const noexcept { return posted_; }  ///< descriptors that were not taken
  /// The oldest one. \return VIP_SUCCESS or VIP_DESCRIPTOR_ERROR
  VIP_RETURN take(VIP_DESCRIPTOR** d) noexcept;
  /// The next one is for the notification.
  void notify(std::unique_ptr<vi_notification> n) noexcept;

 private:
  void call_notified() noexcept;
  VIP_DESCRIPTOR& pop() noexcept;

  vi& vi_;
  const bool of_receives_;
  completion_queue* const queue_;
  ring<VIP_DESCRIPTOR*> ready_;
  service::job_list notified_;
  std::size_t posted_ = 0;
};

}  // namespace weft::vipl
