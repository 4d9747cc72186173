// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::bench {

/// Returns when `done()` is true. For a pair in which each side has its own core: it never yields.
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
