// SPDX-License-Identifier: Apache-2.0
// Coroutines that wait until something has changed, on any threads.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <weft/coro/event.hpp>

namespace weft::detail {

/// Guarded by the mutex of what changes: a coroutine adds its event while it holds that, looks, and
/// then waits, so that no change comes between.
class waiters {
 public:
  /// Drops those of coroutines that were stopped. \throws std::bad_alloc
  std::shared_ptr<event> add() {
    std::erase_if(all_, [](const auto& each) { return each.use_count() == 1; });
    return all_.emplace_back(std::make_shared<event>());
  }
  void wake() noexcept {
    for (const auto& each : std::exchange(all_, {})) each->set();
  }

 private:
  std::vector<std::shared_ptr<event>> all_;
};

}  // namespace weft::detail
