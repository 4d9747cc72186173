// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace weft::bench {

/// KiB of this process: resident memory, and the same with shared pages divided by their users.
struct process_memory {
  double rss = 0;
  double pss = 0;

  /// \throws std::runtime_error when the kernel does not report it
  static process_memory now();
};

/// How much more memory this process has had since its construction, which gives unused memory back
/// to the kernel.
class memory_peak {
 public:
  /// \throws std::runtime_error when the kernel does not report it
  memory_peak();
  std::uint64_t kib() const;

 private:
  std::uint64_t before_;
};

}  // namespace weft::bench
