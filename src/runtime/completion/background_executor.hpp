// SPDX-License-Identifier: Apache-2.0
// The executor of coroutines that move in the background.
#pragma once

#include <weft/coro/executor.hpp>

namespace weft::runtime {

class progress_core;

/// Completes operations on whichever thread makes progress, without the progress lock: the thread
/// inside run() while it waits, the progress thread while the application computes. Two chains may
/// run at the same time on both. Owned by progress_core. docs/adr/0032-background.md
class background_executor final : public executor {
 public:
  explicit background_executor(progress_core& c) noexcept : core_(c) {}

  /// Any thread that does not hold the progress lock.
  void post(operation& work) noexcept override;

 private:
  progress_core& core_;
};

}  // namespace weft::runtime
