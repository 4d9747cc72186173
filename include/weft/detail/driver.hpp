// SPDX-License-Identifier: Apache-2.0
// Somebody who can make operations end while this thread waits.
#pragma once

#include <atomic>

namespace weft::detail {

/// A context's engine, for those that must wait without being a coroutine: `run`, and a scope that
/// is left by an exception.
class driver {
 public:
  virtual ~driver() = default;

  /// Moves messages and resumes coroutines until `done`, which one of them sets. Not from within a
  /// coroutine that others on this thread wait for, except as the last resort of a destructor.
  virtual void drive_until(const std::atomic<bool>& done) noexcept = 0;
};

}  // namespace weft::detail
