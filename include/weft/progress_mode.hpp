// SPDX-License-Identifier: Apache-2.0
// progress_mode: the threads that make progress.
#pragma once

namespace weft {

/// The threads that make progress while the application computes.
enum class progress_mode {
  dedicated,  ///< a progress thread, asleep until it is needed (the default)
  polling,    ///< no thread: progress only inside `run()`, which spins
  interrupt,  ///< no thread, and `run()` sleeps at once instead of spinning
  /// As `dedicated`, with a completion thread. It blocks on the second queue of `qdma`
  /// (`copy_completion::two_queues`); without one it hands completions to coroutines on other
  /// executors (`resume_on`). Slower; for the repetition of an experiment
  /// (docs/adr/0044-second-queue.md, `weft-bench progress`).
  two_threads
};

}  // namespace weft
