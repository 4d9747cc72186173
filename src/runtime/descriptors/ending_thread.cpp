// SPDX-License-Identifier: Apache-2.0
#include "runtime/descriptors/ending_thread.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <thread>

#include "runtime/os/own_thread.hpp"

namespace weft::runtime {

namespace {

/// Gives the calling thread a table of its own that holds only `fd`. The bare system call: a
/// sanitizer would take the numbers for closed in the whole process.
bool keep_only(unsigned fd) noexcept {
  constexpr unsigned unshare = 1u << 1;  // CLOSE_RANGE_UNSHARE
  if (::syscall(SYS_close_range, fd + 1, ~0u, unshare) != 0) return false;
  if (fd != 0) ::syscall(SYS_close_range, 0u, fd - 1, 0u);
  return true;
}

void do_not_linger(int fd) noexcept {
  const linger off{0, 0};
  static_cast<void>(::setsockopt(fd, SOL_SOCKET, SO_LINGER, &off, sizeof off));
}

}  // namespace

void close_by_ending_thread(int fd) noexcept {
  enum step : int { begins, refused, holds, is_closed };
  std::atomic<int> now{begins};
  std::thread last;
  try {
    last = start_own_thread("weft-last-close", "thread that closes what peers sent", [&] {
      now = keep_only(static_cast<unsigned>(fd)) ? holds : refused;
      now.notify_one();
      now.wait(holds);
    });
    now.wait(begins);
  } catch (const std::exception&) {
    // No thread to be had.
  }
  if (now != holds) do_not_linger(fd);
  ::close(fd);
  if (!last.joinable()) return;
  now = is_closed;
  now.notify_one();
  last.join();
}

}  // namespace weft::runtime
