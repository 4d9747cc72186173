// SPDX-License-Identifier: Apache-2.0
#include "runtime/lock/progress_lock.hpp"

#include <sched.h>

#include <chrono>

#include "runtime/os/membarrier.hpp"
#include "runtime/os/nap.hpp"
#include "runtime/os/pause.hpp"
#include "runtime/os/yield_meter.hpp"

namespace weft::runtime {

namespace {

using std::chrono::steady_clock;

// A pass takes well under this many pauses; a holder that takes longer makes a long copy, or has
// lost its core.
constexpr unsigned spins_before_yield = 200;
// If yielding this often has no success, the holder may not run beside this thread at all: it has a
// lower priority and the same core. A thread that goes on yielding uses up its turn, and then waits
// for milliseconds.
constexpr unsigned spins_before_nap = spins_before_yield + 64;
constexpr std::chrono::milliseconds without_yields{10};
constexpr std::chrono::microseconds longest_nap{50};

// This many locked instructions cost several times what a revocation does. A larger number would
// not be cheaper for threads that take turns, and a thread that comes ten times a second would
// leave no bias at all.
constexpr std::uint32_t row_until_biased = 1000;

#if defined(__SANITIZE_THREAD__)
constexpr bool biases = false;  // the sanitizer does not model fences made for other threads
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool biases = false;
#else
constexpr bool biases = true;
#endif
#else
constexpr bool biases = true;
#endif

}  // namespace

progress_lock::progress_lock() noexcept
    : can_bias_(biases && join_private_fences()), bias_revoked_(!can_bias()) {}

void progress_lock::nap() noexcept {
  const std::uint32_t before = wake_ups_.load(std::memory_order_relaxed);
  napping_.fetch_add(1, std::memory_order_relaxed);
  runtime::nap(wake_ups_, before, longest_nap);
  napping_.fetch_sub(1, std::memory_order_relaxed);
}

void progress_lock::wake() noexcept {
  wake_ups_.fetch_add(1, std::memory_order_relaxed);
  end_naps(wake_ups_);
}

/// The next holder may end the context, and this object with it: after the store only the address
/// is used.
void progress_lock::give_and_wake() noexcept {
  wake_ups_.fetch_add(1, std::memory_order_relaxed);
  word_.store(0, std::memory_order_release);
  end_naps(wake_ups_);
}

/// A wake-up may be missed, and the biased thread ends no naps when it gives the lock: so they are
/// short.
void progress_lock::look_again(unsigned& looks) noexcept {
  if (++looks < spins_before_yield)
    cpu_pause();
  else if (looks >= spins_before_nap || !yield())
    nap();
}

/// Many threads wait here, for moments: they share what one of them has found out, in place of a
/// yield_meter each. \return false: neighbours have kept the core for a time slice lately
bool progress_lock::yield() noexcept {
  const auto before = steady_clock::now();
  if (before.time_since_epoch().count() < yields_dear_until_.load(std::memory_order_relaxed))
    return false;
  sched_yield();
  const auto after = steady_clock::now();
  if (after - before > yield_meter::longest_cheap)
    yields_dear_until_.store((after + without_yields).time_since_epoch().count(),
                             std::memory_order_relaxed);
  return true;
}

/// The thread that holds the word may nap until the biased thread, which is this one, has left.
void progress_lock::wait_for_word() noexcept {
  if (try_word()) return;
  if (napping_.load(std::memory_order_relaxed) != 0) wake();
  waiting_.fetch_add(1, std::memory_order_relaxed);
  for (unsigned looks = 0; !try_word();) look_again(looks);
  waiting_.fetch_sub(1, std::memory_order_relaxed);
}

/// With the word held. Afterwards either this thread sees that the biased thread holds the progress
/// lock, or the biased thread will see that it must take the word.
void progress_lock::revoke_bias() noexcept {
  taken_in_a_row_ = 0;
  if (bias_revoked_.load(std::memory_order_relaxed)) return;
  bias_revoked_.store(true, std::memory_order_release);
  if (!private_fence()) can_bias_.store(false, std::memory_order_relaxed);
}

void progress_lock::take() noexcept {
  waiting_.fetch_add(1, std::memory_order_relaxed);
  for (unsigned looks = 0; !try_word();) look_again(looks);
  revoke_bias();
  for (unsigned looks = 0; bias_owner_holds_.load(std::memory_order_acquire) != 0;)
    look_again(looks);
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  waiters_served_.store(waiters_served_.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
}

bool progress_lock::try_take() noexcept {
  if (!try_word()) return false;
  revoke_bias();
  if (bias_owner_holds_.load(std::memory_order_acquire) == 0) return true;
  give();
  return false;
}

void progress_lock::lock_after_revocation() noexcept {
  wait_for_word();
  holds_by_word_ = true;
}

void progress_lock::unlock_after_revocation() noexcept {
  if (can_bias() && ++taken_in_a_row_ >= row_until_biased && !wanted())
    bias_revoked_.store(false, std::memory_order_relaxed);
  holds_by_word_ = false;
  give();
}

/// A waiter that still has not come may want this core.
void progress_lock::let_waiters_in() noexcept {
  const std::uint32_t before = waiters_served_.load(std::memory_order_relaxed);
  for (unsigned looks = 0; wanted() && waiters_served_.load(std::memory_order_relaxed) == before;) {
    if (++looks % spins_before_yield != 0)
      cpu_pause();
    else if (napping_.load(std::memory_order_relaxed) != 0)
      wake();
    else if (!yield())
      nap();
  }
}

}  // namespace weft::runtime
