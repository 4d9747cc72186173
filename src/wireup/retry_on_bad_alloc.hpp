// SPDX-License-Identifier: Apache-2.0
// What has to be done although there is no memory at the moment.
#pragma once

#include <chrono>
#include <new>
#include <thread>

namespace weft::wireup {

/// Calls `f` until it has enough memory, for a second at most. Sleeps in between: on threads of the
/// control plane, and at a context's end. \return whether it had
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
