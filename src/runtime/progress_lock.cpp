// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress_lock.hpp"

#include <sched.h>
#include <time.h>

#include "runtime/membarrier.hpp"
#include "runtime/pause.hpp"

namespace weft::runtime {

namespace {

// A pass takes well under this many pauses; a holder that takes longer has lost its core.
constexpr int spins_before_yield = 200;
// If yielding this often has no success, the holder may not run beside this thread at all: it has a
// lower priority and the same core. A thread that goes on yielding uses up its turn, and then waits
// for milliseconds.
constexpr int spins_before_sleep = spins_before_yield + 64;
constexpr timespec short_sleep{0, 50'000};

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

void spin(int& spins) noexcept {
  if (++spins < spins_before_yield)
    cpu_pause();
  else if (spins < spins_before_sleep)
    sched_yield();
  else
    nanosleep(&short_sleep, nullptr);
}

}  // namespace

progress_lock::progress_lock() noexcept
    : can_bias_(biases && join_private_fences()), bias_revoked_(!can_bias()) {}

void progress_lock::wait_for_word() noexcept {
  if (try_word()) return;
  waiting_.fetch_add(1, std::memory_order_relaxed);
  for (int spins = 0; !try_word();) spin(spins);
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
  for (int spins = 0; !try_word();) spin(spins);
  revoke_bias();
  for (int spins = 0; bias_owner_holds_.load(std::memory_order_acquire) != 0;) spin(spins);
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

void progress_lock::yield_to_waiters() const noexcept {
  const std::uint32_t before = waiters_served_.load(std::memory_order_relaxed);
  for (int spins = 0; wanted() && waiters_served_.load(std::memory_order_relaxed) == before;)
    spin(spins);
}

}  // namespace weft::runtime
