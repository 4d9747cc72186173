// SPDX-License-Identifier: Apache-2.0
// How often this thread allocated; in programs that list allocations.cpp among their sources.
#pragma once

#include <cstddef>

namespace weft::tests {

/// False under ThreadSanitizer, whose operator new cannot be replaced: then no function here works.
bool counts_allocations() noexcept;

/// Calls of operator new on the calling thread so far.
std::size_t allocations() noexcept;

/// The calling thread's allocations that are not freed, minus the allocations of other threads that
/// it freed.
std::size_t allocations_alive() noexcept;

/// While it lives, operator new throws std::bad_alloc on the calling thread.
class no_memory {
 public:
  /// \param after how many allocations still succeed
  /// \param many  how many fail after that
  explicit no_memory(std::size_t after = 0, std::size_t many = ~std::size_t{0}) noexcept;
  no_memory(const no_memory&) = delete;
  no_memory& operator=(const no_memory&) = delete;
  ~no_memory();
};

}  // namespace weft::tests
