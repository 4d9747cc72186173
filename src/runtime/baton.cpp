// SPDX-License-Identifier: Apache-2.0
#include "runtime/baton.hpp"

#include <sched.h>
#include <time.h>

#include "runtime/membarrier.hpp"
#include "runtime/pause.hpp"

namespace weft::runtime {

namespace {

// A pass takes well under this many pauses; a holder that takes longer has lost its core.
constexpr int spins_before_yield = 200;
// Yielding this often in vain means that the holder may not run beside this thread at all: it has a
// lower priority and the same core. Who goes on uses up its turn, and then waits for milliseconds.
constexpr int spins_before_sleep = spins_before_yield + 64;
constexpr timespec short_sleep{0, 50'000};

// So many locked instructions cost several times what a revocation does. More would not be cheaper
// for threads that take turns, and one that comes ten times a second would leave no favour at all.
constexpr std::uint32_t row_until_favoured = 1000;

#if defined(__SANITIZE_THREAD__)
constexpr bool favours = false;  // the sanitizer knows nothing of fences made for others
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool favours = false;
#else
constexpr bool favours = true;
#endif
#else
constexpr bool favours = true;
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

baton::baton() noexcept : can_favour_(favours && join_private_fences()), revoked_(!can_favour()) {}

void baton::wait_for_word() noexcept {
  if (try_word()) return;
  waiting_.fetch_add(1, std::memory_order_relaxed);
  for (int spins = 0; !try_word();) spin(spins);
  waiting_.fetch_sub(1, std::memory_order_relaxed);
}

/// With the word held. Afterwards the favoured thread either is seen to hold the baton, or will
/// see that it must take the word.
void baton::revoke() noexcept {
  taken_in_a_row_ = 0;
  if (revoked_.load(std::memory_order_relaxed)) return;
  revoked_.store(true, std::memory_order_release);
  if (!private_fence()) can_favour_.store(false, std::memory_order_relaxed);
}

void baton::take() noexcept {
  waiting_.fetch_add(1, std::memory_order_relaxed);
  for (int spins = 0; !try_word();) spin(spins);
  revoke();
  for (int spins = 0; favoured_holds_.load(std::memory_order_acquire) != 0;) spin(spins);
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  waiters_served_.store(waiters_served_.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
}

bool baton::try_take() noexcept {
  if (!try_word()) return false;
  revoke();
  if (favoured_holds_.load(std::memory_order_acquire) == 0) return true;
  give();
  return false;
}

void baton::take_after_revocation() noexcept {
  wait_for_word();
  by_word_ = true;
}

void baton::give_after_revocation() noexcept {
  if (can_favour() && ++taken_in_a_row_ >= row_until_favoured && !wanted())
    revoked_.store(false, std::memory_order_relaxed);
  by_word_ = false;
  give();
}

void baton::stand_aside() const noexcept {
  const std::uint32_t before = waiters_served_.load(std::memory_order_relaxed);
  for (int spins = 0; wanted() && waiters_served_.load(std::memory_order_relaxed) == before;)
    spin(spins);
}

}  // namespace weft::runtime
