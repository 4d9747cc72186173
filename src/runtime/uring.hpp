// SPDX-License-Identifier: Apache-2.0
// An io_uring for the wait set: many issuers, one at a time.
#pragma once

#include <liburing.h>

#include <chrono>

namespace weft::runtime {

/// Owns a ring. liburing sets it up and maps it; this class enters the kernel itself, because one
/// call has to submit, wait and keep a deadline. Used by one thread at a time, not always the same
/// one.
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

  /// Takes back the last request, which enter() was refused.
  void withdraw_request() noexcept {
    io_uring_smp_store_release(ring_.sq.ktail, --ring_.sq.sqe_tail);
  }

  /// Requests that no enter() has handed over.
  unsigned unsubmitted() const noexcept {
    return ring_.sq.sqe_tail - io_uring_smp_load_acquire(ring_.sq.khead);
  }

  /// No result in memory and none kept aside: two loads, no system call.
  bool quiet() const noexcept {
    return io_uring_smp_load_acquire(ring_.cq.ktail) == *ring_.cq.khead && !overflown();
  }

  /// The kernel keeps results aside, because more came than fit; enter() fetches them.
  bool overflown() const noexcept {
    return (IO_URING_READ_ONCE(*ring_.sq.kflags) & IORING_SQ_CQ_OVERFLOW) != 0;
  }

  /// Submits all requests, fetches what was kept aside, and sleeps until there is a result.
  /// @param at_most how long to sleep; zero for not at all, `forever` for no limit.
  /// Returns 0 or an errno; early returns (EINTR, ETIME) are for the caller to look at the clock.
  int enter(std::chrono::nanoseconds at_most) noexcept;

  /// Hands each result that is there now to `f(user_data, res)`. `f` may make requests and enter.
  template <class F>
  void reap(F&& f) noexcept {
    const unsigned end = io_uring_smp_load_acquire(ring_.cq.ktail);
    while (*ring_.cq.khead != end) {
      const io_uring_cqe& cqe = ring_.cq.cqes[*ring_.cq.khead & *ring_.cq.kring_mask];
      const auto user_data = cqe.user_data;
      const auto res = cqe.res;
      io_uring_cq_advance(&ring_, 1);
      f(user_data, res);
    }
  }

 private:
  io_uring ring_{};
  bool ended_ = false;
};

}  // namespace weft::runtime
