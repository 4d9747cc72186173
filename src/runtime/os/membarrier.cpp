// SPDX-License-Identifier: Apache-2.0
#include "runtime/os/membarrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace weft::runtime {

bool join_heavy_fences() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool heavy_fence() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool join_private_fences() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool private_fence() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return true;
  settle();
  return false;
}

void settle() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const timespec a_while{0, 1'000'000};
  nanosleep(&a_while, nullptr);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace weft::runtime
