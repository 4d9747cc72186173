// SPDX-License-Identifier: Apache-2.0
// Tells a child made by fork() from its parent, without a system call.
#pragma once

#include <cstdint>

namespace weft::runtime {

/// A page that is wiped in a child. Any thread.
class fork_mark {
 public:
  /// \throws std::bad_alloc
  fork_mark();
  ~fork_mark();
  fork_mark(const fork_mark&) = delete;
  fork_mark& operator=(const fork_mark&) = delete;

  /// Whether fork() made this process after its parent had made the object.
  bool is_inherited() const noexcept { return *word_ == 0; }

 private:
  volatile std::uint32_t* word_;
};

}  // namespace weft::runtime
