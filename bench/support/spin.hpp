// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::bench {

/// Returns when `done()` is true. For a pair, where each side has a core of its own: it never
/// yields.
template <typename Condition>
inline void spin_until(Condition&& done) noexcept(noexcept(done())) {
  while (!done()) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
  }
}

}  // namespace weft::bench
