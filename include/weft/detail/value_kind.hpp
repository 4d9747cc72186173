// SPDX-License-Identifier: Apache-2.0
// How a type travels as a value. Applications do not name these.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <weft/detail/value_parts.hpp>

namespace weft {

template <class T>
struct wire;

namespace detail {

/// Whether the application, or an adapter, has defined wire<T>.
template <class T>
concept has_wire = requires { sizeof(wire<T>); };

/// Whether the bytes of an object are its value. A pointer's are not, in another process; nor those
/// of an object with such a member, of an optional or a variant, which a peer could make invalid,
/// or of a tuple, which each standard library lays out in its own way.
template <class T>
constexpr bool has_plain_bytes() noexcept;
template <class T>
struct bytes_are_value : std::bool_constant<has_plain_bytes<T>()> {};
template <class T>
inline constexpr bool is_plain = bytes_are_value<T>::value && !has_wire<std::remove_cv_t<T>>;
template <class T, std::size_t N>
struct bytes_are_value<T[N]> : std::bool_constant<is_plain<T>> {};
template <class T, std::size_t N>
struct bytes_are_value<std::array<T, N>> : std::bool_constant<is_plain<T>> {};
/// Not trivially copyable by the letter, because its assignment is user-provided.
template <class A, class B>
struct bytes_are_value<std::pair<A, B>> : std::bool_constant<is_plain<A> && is_plain<B>> {};

template <class T>
constexpr bool has_plain_bytes() noexcept {
  if constexpr (!std::is_trivially_copyable_v<T> || std::is_pointer_v<T> ||
                std::is_member_pointer_v<T> || std::is_null_pointer_v<T> ||
                std::is_reference_v<T> || has_elements<T>)
    return false;
  else if constexpr (parts_of<T> == value_parts::members)
    return each_part<T>([]<class P>() { return is_plain<P>; });
  else
    return parts_of<T> == value_parts::none;
}

enum class value_kind {
  none,      ///< it cannot travel
  bytes,     ///< one size: the bytes of the object
  elements,  ///< any number of such objects in a row
  object     ///< written by wire<T>, or part by part
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
  } else if constexpr (has_elements<T> && is_plain<element_t<T>>) {
    return value_kind::elements;
  } else if constexpr (parts_of<T> != value_parts::none) {
    return each_part<T>([]<class P>() { return kind_of<P> != value_kind::none; })
               ? value_kind::object
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
      "weft sends trivially copyable types (not pointers, nor types that have one); vector, "
      "string, string_view and span of them; optional, variant, pair, tuple, array, containers, "
      "and aggregates of up to 16 members, of all these. For another type write "
      "template <> struct weft::wire<T> { static void put(weft::sink&, const T&); "
      "static T get(weft::source&); };  or, if cereal serialises it, include "
      "<weft/interop/cereal.hpp>");
}

}  // namespace detail
}  // namespace weft
