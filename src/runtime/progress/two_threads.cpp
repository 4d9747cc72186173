// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/two_threads.hpp"

#include "runtime/progress/progress_core.hpp"

namespace weft::runtime {

two_threads::two_threads(progress_core& core) : core_(core), thread_([this] { read(); }) {}

void two_threads::ring() noexcept { core_.wake_completion_thread(); }

/// The queue's reports are protocol steps like those of a pass, so they take the progress lock; the
/// thread sleeps without it.
void two_threads::read() noexcept {
  const progress_core::holder hold(core_);
  const step reading(core_.trace.tree(), "second queue", {}, true);
  if (!queue_) return;
  queue_->take_all();
  if (core_.wakeup_deferred) core_.wake_peers();
}

}  // namespace weft::runtime
