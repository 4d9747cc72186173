// SPDX-License-Identifier: Apache-2.0
#include "support/allocations.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t count = 0;
thread_local std::size_t freed = 0;
thread_local std::size_t until_refused = 0;
thread_local std::size_t to_refuse = 0;

[[maybe_unused]] bool refused() noexcept {
  if (to_refuse == 0) return false;
  if (until_refused != 0) return --until_refused, false;
  return --to_refuse, true;
}

}  // namespace

namespace weft::tests {

std::size_t allocations() noexcept { return count; }
std::size_t allocations_alive() noexcept { return count - freed; }
no_memory::no_memory(std::size_t after, std::size_t many) noexcept {
  until_refused = after;
  to_refuse = many;
}
no_memory::~no_memory() { to_refuse = 0; }

}  // namespace weft::tests

#if defined(__SANITIZE_THREAD__)
#define WEFT_TEST_OWNS_NEW 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_TEST_OWNS_NEW 0
#endif
#endif
#ifndef WEFT_TEST_OWNS_NEW
#define WEFT_TEST_OWNS_NEW 1
#endif

namespace weft::tests {

bool counts_allocations() noexcept { return WEFT_TEST_OWNS_NEW; }

}  // namespace weft::tests

#if WEFT_TEST_OWNS_NEW

void* operator new(std::size_t bytes) {
  ++count;
  if (refused()) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

// Sanitizers have their own nothrow version, which would not match this operator delete.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++count;
  return refused() ? nullptr : std::malloc(bytes);
}

void operator delete(void* memory) noexcept {
  if (memory) ++freed;
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

#endif
