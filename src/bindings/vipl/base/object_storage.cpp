// SPDX-License-Identifier: Apache-2.0
#include "bindings/vipl/base/object_storage.hpp"

#include <sanitizer/asan_interface.h>

#include <cstdint>
#include <new>

namespace weft::vipl {

/// What is left of an ended object. AddressSanitizer reports every use of the rest.
struct object_storage::kept {
  std::uint32_t no_kind;  // the object's own, not written here
  kept* next;
};

void* object_storage::take(std::size_t size) {
  {
    const std::lock_guard lock(mutex_);
    if (kept* const p = first_) {
      first_ = p->next;
      ASAN_UNPOISON_MEMORY_REGION(p, size);
      return p;
    }
  }
  return ::operator new(size);
}

void object_storage::put(void* p, std::size_t size) noexcept {
  auto* const last = static_cast<kept*>(p);
  ASAN_POISON_MEMORY_REGION(last + 1, size - sizeof *last);
  const std::lock_guard lock(mutex_);
  last->next = first_;
  first_ = last;
}

}  // namespace weft::vipl
