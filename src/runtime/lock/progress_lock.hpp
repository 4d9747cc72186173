// SPDX-License-Identifier: Apache-2.0
// The right to run the engine, held by one thread at a time.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::runtime {

/// The holder of the progress lock may touch transports, matching queues and the completion queue's
/// plain list; no other thread may. It is held for a few passes or one posting call, never while
/// user code runs. It is a spin lock, and not a mutex. A waiter that has spun for longer than a
/// pass yields, because the holder may be the thread that it displaces. Where neighbours use the
/// yields it naps, and the thread that gives the lock ends the naps.
///
/// One thread at a time, the one that leads inside run() or the home of an external loop, is
/// *biased*: it takes the progress lock with two plain stores and a load. A locked instruction
/// would have to wait until the message written before it has crossed to the other core, which
/// costs more than everything else that a small message needs. Any other thread first *revokes* the
/// bias: it makes the biased thread pass a fence (membarrier, some microseconds), and from then on
/// both use the locked word, until the biased thread has taken it many times in a row.
/// docs/adr/0001. Model: tests/models/progress_lock.pml.
class progress_lock {
 public:
  progress_lock() noexcept;

  // --- the biased thread -------------------------------------------------------------------

  void lock_biased() noexcept {
    if (!try_lock_biased()) [[unlikely]]
      lock_after_revocation();
  }

  /// lock_biased without a wait and without a call: false while the bias is revoked.
  bool try_lock_biased() noexcept {
    bias_owner_holds_.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!bias_revoked_.load(std::memory_order_acquire)) [[likely]]
      return true;
    unlock_unrevoked();
    return false;
  }

  /// Gives back what try_lock_biased took.
  void unlock_unrevoked() noexcept { bias_owner_holds_.store(0, std::memory_order_release); }

  void unlock_biased() noexcept {
    if (holds_by_word_) [[unlikely]]
      unlock_after_revocation();
    else
      bias_owner_holds_.store(0, std::memory_order_release);
  }

  // --- every other thread --------------------------------------------------------------------

  void take() noexcept;
  bool try_take() noexcept;
  void give() noexcept {
    if (napping_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      return give_and_wake();
    word_.store(0, std::memory_order_release);
  }

  /// Whether the kernel makes fences for other threads (private_fence), so that bias works.
  bool can_bias() const noexcept { return can_bias_.load(std::memory_order_relaxed); }

  /// Whether a thread waits: a thread that polls in a loop should then yield for a moment.
  bool wanted() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }

  /// Waits until a waiting thread has had the lock. Not until no thread waits any more: with many
  /// threads there is always one. Not while holding the lock.
  void let_waiters_in() noexcept;

 private:
  bool try_word() noexcept {
    return word_.load(std::memory_order_relaxed) == 0 &&
           word_.exchange(1, std::memory_order_acquire) == 0;
  }
  void wait_for_word() noexcept;
  void look_again(unsigned& looks) noexcept;
  bool yield() noexcept;
  void nap() noexcept;
  void wake() noexcept;
  void give_and_wake() noexcept;
  void revoke_bias() noexcept;
  void lock_after_revocation() noexcept;
  void unlock_after_revocation() noexcept;

  // Written by the biased thread in every pass.
  alignas(64) std::atomic<std::uint32_t> bias_owner_holds_{0};
  bool holds_by_word_ = false;        // the biased thread holds the word instead
  std::uint32_t taken_in_a_row_ = 0;  // takes since another thread had the word; under the word
  // The kernel makes fences for other threads; once it refuses one, never again. Changed with the
  // word held.
  std::atomic<bool> can_bias_;

  // Written by other threads, seldom.
  alignas(64) std::atomic<bool> bias_revoked_;  // changed by the holder of the word only
  std::atomic<std::uint32_t> waiting_{0};
  std::atomic<std::uint32_t> waiters_served_{0};  // written by the holder of the word only
  std::atomic<std::uint32_t> napping_{0};
  std::atomic<std::uint32_t> wake_ups_{0};
  std::atomic<std::int64_t> yields_dear_until_{0};  // in the steady clock's units
  alignas(64) std::atomic<std::uint32_t> word_{0};
};

}  // namespace weft::runtime
