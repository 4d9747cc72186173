// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::bench {

/// KiB that this process holds: all of it, and with shared pages divided by who shares them.
struct process_memory {
  double rss = 0;
  double pss = 0;

  /// \throws std::runtime_error when the kernel does not tell
  static process_memory now();
};

}  // namespace weft::bench
