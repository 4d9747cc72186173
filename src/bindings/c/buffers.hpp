// SPDX-License-Identifier: Apache-2.0
// Lists of buffers, as C and as C++ have them.
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include <weft/weft.h>
#include <weft/operations/messages.hpp>

namespace weft::c {

/// Every buffer has its memory, and the size of all of them is a number.
inline bool is_usable(const weft_buffer* list, std::size_t count) noexcept {
  if (!list && count != 0) return false;
  std::size_t left = std::numeric_limits<std::size_t>::max();
  for (std::size_t i = 0; i != count; ++i) {
    if ((!list[i].memory && list[i].size != 0) || list[i].size > left) return false;
    left -= list[i].size;
  }
  return true;
}

/// The same list, in place: it stays the caller's until the end of the operation, and a copy would
/// need memory. A span is a pointer and a size, as a weft_buffer is (the tests would show another
/// order). This library never writes a weft_buffer, so reading it as a span meets no stale value.
/// A list of one is taken over, and need not live: single buffers have the shorter ways.
template <class Buffer>
detail::buffer_list<Buffer> buffers(const weft_buffer* list, std::size_t count) noexcept {
  static_assert(sizeof(Buffer) == sizeof(weft_buffer) && alignof(Buffer) == alignof(weft_buffer));
  static_assert(std::is_standard_layout_v<Buffer> && std::is_trivially_copyable_v<Buffer>);
  if (count == 0) return Buffer{};
  if (count == 1) return Buffer(static_cast<typename Buffer::pointer>(list->memory), list->size);
  return std::span<const Buffer>(reinterpret_cast<const Buffer*>(list), count);
}

/// Only its size: the operation has ended, and the caller may reuse the list.
template <class Buffer>
void forget_list(detail::buffer_list<Buffer>& list) noexcept {
  if (!list.single()) list = Buffer(static_cast<typename Buffer::pointer>(nullptr), list.size());
}

}  // namespace weft::c
