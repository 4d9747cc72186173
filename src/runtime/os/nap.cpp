// SPDX-License-Identifier: Apache-2.0
#include "runtime/os/nap.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace weft::runtime {

void nap(const std::atomic<std::uint32_t>& word, std::uint32_t value,
         std::chrono::nanoseconds longest) noexcept {
  const timespec limit{0, static_cast<long>(longest.count())};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &limit, nullptr, 0);
}

void end_naps(std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace weft::runtime
