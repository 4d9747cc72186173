// SPDX-License-Identifier: Apache-2.0
// The bytes of values that lie in a row in memory. Applications do not name these.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <weft/detail/value_kind.hpp>
#include <weft/message.hpp>

namespace weft::detail {

/// The bytes of a value that is `bytes` or `elements`.
template <class T>
const_buffer bytes_of_value(const T& value) noexcept {
  if constexpr (has_elements<T>)
    return std::as_bytes(std::span<const element_t<T>>(value.data(), value.size()));
  else
    return std::as_bytes(std::span<const T, 1>(&value, 1));
}

/// The same, to be written.
template <class T>
mutable_buffer writable_bytes_of_value(T& value) noexcept {
  if constexpr (has_elements<std::remove_cv_t<T>>)
    return std::as_writable_bytes(std::span(value.data(), value.size()));
  else
    return std::as_writable_bytes(std::span<T, 1>(&value, 1));
}

/// Whether an argument T&& is memory of the caller's: a variable, or a view.
template <class T>
inline constexpr bool is_borrowed =
    std::is_lvalue_reference_v<T> ||
    (has_elements<std::remove_cvref_t<T>> && !elements_of<std::remove_cvref_t<T>>::owns);

/// Whether a file or a descriptor takes the bytes of a T as they are.
template <class T>
constexpr bool has_bytes = kind_of<T> == value_kind::bytes || kind_of<T> == value_kind::elements;

/// An error of the compiler with the cure, for a type whose bytes are not its value.
template <class T>
constexpr void require_bytes() noexcept {
  static_assert(!std::is_array_v<T>,
                "an array of C: pass std::string_view(text), std::span(array) or std::array, which "
                "say whether the character 0 at the end belongs to it");
  static_assert(std::is_array_v<T> || has_bytes<T>,
                "weft reads and writes the bytes of trivially copyable objects (not of pointers), "
                "and of the elements of a vector, string, string_view or span of them");
}

/// The bytes of a caller's object that an operation reads, or writes.
template <class T>
const_buffer bytes_to_write(const T& data) noexcept {
  require_bytes<T>();
  if constexpr (has_bytes<T>) return bytes_of_value(data);
  return {};
}
template <class T>
mutable_buffer bytes_to_fill(T&& into) noexcept {
  using decayed = std::remove_cvref_t<T>;
  require_bytes<decayed>();
  static_assert(is_borrowed<T>, "the object must live until the read has ended: pass a variable");
  if constexpr (has_bytes<decayed>) {
    constexpr bool is_constant = [] {
      if constexpr (has_elements<decayed>)
        return std::is_const_v<std::remove_pointer_t<decltype(std::declval<T&>().data())>>;
      else
        return std::is_const_v<std::remove_reference_t<T>>;
    }();
    static_assert(!is_constant, "a read writes to it");
    if constexpr (!is_constant) return writable_bytes_of_value(into);
  }
  return {};
}

/// Gives a vector or a string `count` elements. \return false: no memory
template <class C>
bool resize_elements(void* container, std::size_t count, mutable_buffer& bytes) noexcept {
  C& c = *static_cast<C*>(container);
  try {
    c.resize(count);
  } catch (...) {  // also of the elements' constructors
    return false;
  }
  bytes = std::as_writable_bytes(std::span(c.data(), count));
  return true;
}

}  // namespace weft::detail
