// SPDX-License-Identifier: Apache-2.0
// The part of the completion queue for threads that do not hold the progress lock.
#pragma once

#include <atomic>

#include <weft/coro/operation.hpp>

namespace weft::runtime {

/// Many threads push, the thread inside run() takes all operations at once. Lock-free. The other
/// half of the completion queue is a plain operation_list for the holder of the progress lock. In
/// every order: tests/interleave/remote_completion_queue.cpp.
class remote_completion_queue {
 public:
  bool empty() const noexcept { return head_.load(std::memory_order_relaxed) == nullptr; }

  void push(operation& op) noexcept {
    operation* top = head_.load(std::memory_order_relaxed);
    do {
      op.next = top;
    } while (!head_.compare_exchange_weak(top, &op, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
  }

  /// All operations pushed so far, oldest first.
  operation_list take() noexcept {
    operation_list in_order;
    if (empty()) return in_order;
    operation* newest = head_.exchange(nullptr, std::memory_order_acquire);
    operation* oldest = nullptr;
    while (newest) {
      operation* older = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = older;
    }
    while (oldest) {
      operation* op = oldest;
      oldest = oldest->next;
      in_order.push(*op);
    }
    return in_order;
  }

 private:
  std::atomic<operation*> head_{nullptr};
};

}  // namespace weft::runtime
