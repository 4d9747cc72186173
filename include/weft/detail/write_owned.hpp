// SPDX-License-Identifier: Apache-2.0
// Writes of objects to files and descriptors. Applications do not name these.
#pragma once

#include <type_traits>
#include <utility>

#include <weft/coro/task.hpp>
#include <weft/detail/value_bytes.hpp>

namespace weft::detail {

template <class decayed, class Write>
task<void> write_kept(decayed data, Write write) {
  co_await write(bytes_of_value(data));
}

/// Writes the bytes of an argument T&& by `write`, a function that makes a task; keeps an object
/// that is not the caller's until the end.
template <class T, class Write>
task<void> write_owned(std::remove_reference_t<T>& data, Write write) {
  using decayed = std::remove_cvref_t<T>;
  require_bytes<decayed>();
  if constexpr (!has_bytes<decayed> || std::is_array_v<decayed>)
    return write_kept<const_buffer, Write>({}, std::move(write));  // refused above
  else if constexpr (is_borrowed<T>)
    return write(bytes_of_value(data));
  else
    return write_kept<decayed, Write>(std::move(data), std::move(write));
}

}  // namespace weft::detail
