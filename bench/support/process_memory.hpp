// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::bench {

/// KiB of this process: resident memory, and the same with shared pages divided by their users.
struct process_memory {
  double rss = 0;
  double pss = 0;

  /// \throws std::runtime_error when the kernel does not report it
  static process_memory now();
};

}  // namespace weft::bench
