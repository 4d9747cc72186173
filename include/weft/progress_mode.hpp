// SPDX-License-Identifier: Apache-2.0
// progress_mode: what moves messages while the application computes.
#pragma once

namespace weft {

/// Who moves messages while the application computes.
enum class progress_mode {
  dedicated,  ///< a thread of the context, asleep until it is needed (the default)
  polling,    ///< no thread: messages move only inside `run()`, which spins
  interrupt,  ///< no thread, and `run()` sleeps at once instead of spinning
  /// As `dedicated`; and what ends for coroutines on other executors (`resume_on`) is handed to
  /// them by a second thread. Slower: of use to repeat an experiment (docs/adr/0014-two-threads.md,
  /// `weft-bench progress`).
  two_threads
};

}  // namespace weft
