// SPDX-License-Identifier: Apache-2.0
// Waiting for what another thread or process does within microseconds, if it runs.
#pragma once

#include <time.h>

#include "runtime/os/pause.hpp"

namespace weft::runtime {

/// Pauses between two looks, and naps once it has taken long: then the other one may have lost its
/// core, or may need this one. A yield would give a neighbour on this core a whole time slice, and
/// would not let a thread of lower priority run at all.
class brief_wait {
 public:
  void wait() noexcept {
    if (looks_ < spins) {
      ++looks_;
      cpu_pause();
    } else {
      ::nanosleep(&nap, nullptr);
    }
  }

 private:
  static constexpr unsigned spins = 1000;
  static constexpr timespec nap{0, 50'000};

  unsigned looks_ = 0;
};

}  // namespace weft::runtime
