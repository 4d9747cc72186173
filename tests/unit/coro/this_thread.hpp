// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>

/// \return the calling thread. Not inline, because pthread_self is declared as a constant function:
/// clang 14 would call it once per coroutine and not once per thread.
[[gnu::noinline]] inline std::thread::id this_thread() {
  asm volatile("");
  return std::this_thread::get_id();
}
