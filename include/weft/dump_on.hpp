// SPDX-License-Identifier: Apache-2.0
// dump_on: the signal for which a context prints what it waits for.
#pragma once

namespace weft {

/// The signal for which a context prints its pending operations, unmatched messages and connections
/// on the standard error, and goes on. A handler of the application is never replaced: then nothing
/// is printed, and `context::describe` says so. docs/debugging.md
enum class dump_on {
  automatic,  ///< SIGQUIT (Ctrl-\) in a process that weft-run started, else none
  none,
  sigquit,
  sigusr1,
  sigusr2
};

}  // namespace weft
