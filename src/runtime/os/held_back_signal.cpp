// SPDX-License-Identifier: Apache-2.0
#include "runtime/os/held_back_signal.hpp"

#include <time.h>

#include <cerrno>

namespace weft::runtime {

held_back_signal::held_back_signal(int number) noexcept {
  sigemptyset(&held_);
  sigaddset(&held_, number);
  ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
  was_held_ = sigismember(&before_, number) == 1;
}

held_back_signal::~held_back_signal() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void held_back_signal::drop() noexcept {
  if (was_held_) return;
  const int saved = errno;
  constexpr timespec now{};
  ::sigtimedwait(&held_, nullptr, &now);
  errno = saved;
}

}  // namespace weft::runtime
