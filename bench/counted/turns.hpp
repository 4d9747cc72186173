// SPDX-License-Identifier: Apache-2.0
// Two threads in turns, and the part of a thread that callgrind counts.
#pragma once

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_TOGGLE_COLLECT static_cast<void>(0)
#endif

#include <semaphore>

namespace weft::bench {

/// Two sides that run in turns; side 0 begins. Each side's thread calls its functions.
class turns {
 public:
  void wait(int side) { mine_[side].acquire(); }
  void pass(int side) { mine_[1 - side].release(); }

 private:
  std::binary_semaphore mine_[2]{std::binary_semaphore{1}, std::binary_semaphore{0}};
};

/// Callgrind counts the calling thread's instructions during the life of this object. Without
/// callgrind it does nothing.
class counting {
 public:
  explicit counting(bool on) : on_(on) { toggle(); }
  ~counting() { toggle(); }
  counting(const counting&) = delete;
  counting& operator=(const counting&) = delete;

 private:
  void toggle() const {
    if (on_) CALLGRIND_TOGGLE_COLLECT;
  }
  const bool on_;
};

}  // namespace weft::bench
