// SPDX-License-Identifier: Apache-2.0
// An io_uring for the wait set: many issuers, one at a time.
#pragma once

#include <liburing.h>

#include <chrono>

namespace weft::runtime {

/// Owns a ring of liburing's, and uses only its documented functions: where its structures keep
/// what differs between releases. Used by one thread at a time, not always the same one.
class uring {
 public:
  /// Throws weft::error(unsupported), saying what forbids it and what would allow it.
  /// @param submissions requests that one system call can take along.
  /// @param completions results that fit into memory; the kernel keeps further ones aside.
  uring(unsigned submissions, unsigned completions);
  uring(const uring&) = delete;
  uring& operator=(const uring&) = delete;

  ~uring() { end(); }

  /// Ends every request. The kernel releases their files a moment later. No other call may follow.
  void end() noexcept;

  int descriptor() const noexcept { return ring_.ring_fd; }

  /// Room for one request, or null when full: enter() first. It is submitted by the next enter().
  io_uring_sqe* next_request() noexcept { return io_uring_get_sqe(&ring_); }

  /// Turns a request that enter() did not hand over into one that does nothing, with the user data
  /// 0. The kernel is given it when it takes requests again.
  static void withdraw(io_uring_sqe* request) noexcept {
    io_uring_prep_nop(request);
    io_uring_sqe_set_data64(request, 0);
  }

  /// Requests that no enter() has handed over.
  unsigned unsubmitted() const noexcept { return io_uring_sq_ready(&ring_); }

  /// No result in memory and none kept aside: two loads, no system call.
  bool quiet() const noexcept { return io_uring_cq_ready(&ring_) == 0 && !overflown(); }

  /// The kernel keeps results aside, because more came than fit; enter() fetches them.
  bool overflown() const noexcept { return io_uring_cq_has_overflow(&ring_); }

  /// Submits all requests in one system call, and sleeps in it until there is a result.
  /// @param at_most how long to sleep; `forever` for no limit. With zero it does not sleep, and
  ///   fetches what was kept aside.
  /// Returns 0 or an errno; early returns (EINTR, ETIME) are for the caller to look at the clock.
  int enter(std::chrono::nanoseconds at_most) noexcept;

  /// Hands each result that is there now to `f(user_data, res)`. `f` may make requests and enter.
  template <class F>
  void reap(F&& f) noexcept {
    for (unsigned left = io_uring_cq_ready(&ring_); left != 0; --left) {
      io_uring_cqe* cqe = nullptr;
      if (io_uring_peek_cqe(&ring_, &cqe) != 0) return;
      const auto user_data = cqe->user_data;
      const auto res = cqe->res;
      io_uring_cqe_seen(&ring_, cqe);
      f(user_data, res);
    }
  }

 private:
  io_uring ring_{};
  bool ended_ = false;
};

}  // namespace weft::runtime
