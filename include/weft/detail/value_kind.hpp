// SPDX-License-Identifier: Apache-2.0
// How a type travels as a value. Applications do not name these.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/message.hpp>

namespace weft {

template <class T>
struct wire;

namespace detail {

/// Whether the application, or an adapter, has defined wire<T>.
template <class T>
concept has_wire = requires { sizeof(wire<T>); };

/// Elements that lie elsewhere, in a row.
template <class T>
struct elements_of {
  using type = void;
  static constexpr bool owns = false;
};
template <class T, std::size_t N>
struct elements_of<std::span<T, N>> {
  using type = std::remove_cv_t<T>;
  static constexpr bool owns = false;
};
template <class T, class Traits>
struct elements_of<std::basic_string_view<T, Traits>> {
  using type = T;
  static constexpr bool owns = false;
};
template <class T, class Traits, class Allocator>
struct elements_of<std::basic_string<T, Traits, Allocator>> {
  using type = T;
  static constexpr bool owns = true;
};
template <class T, class Allocator>
struct elements_of<std::vector<T, Allocator>> {
  using type = T;
  static constexpr bool owns = true;
};
template <class Allocator>
struct elements_of<std::vector<bool, Allocator>> {  // they are bits
  using type = void;
  static constexpr bool owns = false;
};
template <class C>
using element_t = typename elements_of<C>::type;
template <class C>
concept has_elements = !std::is_void_v<element_t<C>>;

/// Whether the bytes of an object are its value. A pointer's are not, in another process. pair and
/// tuple are not trivially copyable by the letter, because their assignment is user-provided.
template <class T>
struct bytes_are_value
    : std::bool_constant<std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
                         !std::is_member_pointer_v<T> && !std::is_null_pointer_v<T> &&
                         !std::is_reference_v<T> && !has_elements<T>> {};
template <class T>
inline constexpr bool is_plain = bytes_are_value<T>::value && !has_wire<T>;
template <class T, std::size_t N>
struct bytes_are_value<T[N]> : std::bool_constant<is_plain<T>> {};
template <class T, std::size_t N>
struct bytes_are_value<std::array<T, N>> : std::bool_constant<is_plain<T>> {};
template <class A, class B>
struct bytes_are_value<std::pair<A, B>> : std::bool_constant<is_plain<A> && is_plain<B>> {};
template <class... T>
struct bytes_are_value<std::tuple<T...>> : std::bool_constant<(is_plain<T> && ...)> {};

enum class value_kind {
  none,      ///< it cannot travel
  bytes,     ///< one size: the bytes of the object
  elements,  ///< any number of such objects in a row
  object     ///< written by wire<T>, or a vector of values that are elements or objects
};

/// How `T` would travel without a wire<T>.
template <class T>
constexpr value_kind kind_without_wire() noexcept;

template <class T>
inline constexpr value_kind kind_of = has_wire<T> ? value_kind::object : kind_without_wire<T>();

template <class T>
constexpr value_kind kind_without_wire() noexcept {
  if constexpr (bytes_are_value<T>::value) {
    return value_kind::bytes;
  } else if constexpr (has_elements<T>) {
    if constexpr (is_plain<element_t<T>>)
      return value_kind::elements;
    else
      return elements_of<T>::owns && kind_of<element_t<T>> != value_kind::none ? value_kind::object
                                                                               : value_kind::none;
  } else {
    return value_kind::none;
  }
}

/// An error of the compiler with the cure, for a type that cannot travel.
template <class T>
constexpr void require_value() noexcept {
  static_assert(!std::is_array_v<T>,
                "an array of C: pass std::string_view(text), std::span(array) or std::array, which "
                "say whether the character 0 at the end travels, too");
  static_assert(
      std::is_array_v<T> || kind_of<T> != value_kind::none,
      "weft sends the bytes of trivially copyable types (not of pointers), and vector, string, "
      "string_view, span, array, pair and tuple of them. For a type of your own write "
      "template <> struct weft::wire<T> { static void put(weft::sink&, const T&); "
      "static T get(weft::source&); };  or, if cereal serialises it, include "
      "<weft/interop/cereal.hpp>");
}

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

}  // namespace detail
}  // namespace weft
