// SPDX-License-Identifier: Apache-2.0
// A completion queue, which many VIs share.
#pragma once

#include <cstddef>
#include <deque>

#include "bindings/vipl/object.hpp"

namespace weft::vipl {

class nic;
class vi;

/// With the NIC locked.
class completion_queue final : public object {
 public:
  static constexpr kind its_kind = kind::completion_queue;
  struct entry {
    vi* at;
    bool receives;
  };
  struct notification {
    VIP_CQ_CALLBACK handler;
    VIP_PVOID context;
  };

  completion_queue(nic& of, std::size_t limit) noexcept
      : object(its_kind), owner(of), limit_(limit) {}

  /// A descriptor of that queue is complete.
  void push(const entry& e);
  bool pop(entry& e) noexcept {
    if (entries_.empty()) return false;
    e = entries_.front();
    entries_.pop_front();
    return true;
  }
  bool empty() const noexcept { return entries_.empty(); }
  /// \return false: there are more entries
  bool resize(std::size_t limit) noexcept;
  void notify(const notification& n);
  void forget(const vi& v) noexcept;  ///< drops the entries of a VI that ends
  std::size_t end_notifications() noexcept;

  nic& owner;
  std::size_t users = 0;  // queues of VIs

 private:
  void call_notified();

  std::deque<entry> entries_;
  std::deque<notification> notified_;
  std::size_t limit_;
  bool overrun_ = false;
};

}  // namespace weft::vipl
