// SPDX-License-Identifier: Apache-2.0
// Retries work that must be done although there is no memory at the moment.
#pragma once

#include <chrono>
#include <new>
#include <thread>

namespace weft::wireup {

/// Calls `f` until there is enough memory, for a second at most. Sleeps in between, so only for
/// threads of the control plane and for a context's end. \return whether `f` succeeded
template <class F>
bool retry_on_bad_alloc(const F& f) {
  for (int n = 0; n != 1000; ++n) try {
      f();
      return true;
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  return false;
}

}  // namespace weft::wireup
