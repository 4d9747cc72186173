// SPDX-License-Identifier: Apache-2.0
// Hints to the processor.
#pragma once

namespace weft::runtime {

/// Tells the core that this thread spins. About 10 ns on today's x86.
inline void cpu_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// Fetches a line that this core will write soon into its cache. The builtin fetches for reading
/// unless the exact processor is given; prefetchw is a no-op where it is missing.
inline void prefetch_for_write(const void* at) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at, 1);
#endif
}

}  // namespace weft::runtime
