// SPDX-License-Identifier: Apache-2.0
// Neighbours that want the cores: processes outside of every job, which loop.
#pragma once

#include <sys/types.h>

#include <vector>

namespace weft::bench {

/// So many processes that compute without an end, touch no memory and may run on every core of this
/// process. They end with this object, and with the thread that made it, however that ends.
class spinners {
 public:
  /// For a process with one thread. \throws std::system_error
  explicit spinners(int count);
  spinners(const spinners&) = delete;
  spinners& operator=(const spinners&) = delete;
  ~spinners();

 private:
  void end() noexcept;

  std::vector<pid_t> all_;
};

}  // namespace weft::bench
