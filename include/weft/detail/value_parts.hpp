// SPDX-License-Identifier: Apache-2.0
// What the values of a type consist of. Applications do not name these.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <weft/detail/aggregate.hpp>

namespace weft::detail {

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

/// Values that consist of others, without a wire<T>.
enum class value_parts {
  none,
  one_or_none,  ///< std::optional
  one_of,       ///< std::variant
  of_tuple,     ///< as std::get gives them
  of_array,     ///< of C
  members,      ///< of an aggregate
  collection    ///< any number of values of one type
};

template <class T>
struct parts_of_type : std::integral_constant<value_parts, value_parts::none> {};
template <class T>
struct parts_of_type<std::optional<T>>
    : std::integral_constant<value_parts, value_parts::one_or_none> {};
template <class... T>
struct parts_of_type<std::variant<T...>>
    : std::integral_constant<value_parts, value_parts::one_of> {};
template <class T, std::size_t N>
struct parts_of_type<T[N]> : std::integral_constant<value_parts, value_parts::of_array> {};

/// A container of the standard library, or one like it.
template <class C>
concept is_collection = requires(C& c, typename C::value_type v) {
  c.clear();
  c.insert(c.end(), std::move(v));
  { c.size() } -> std::convertible_to<std::size_t>;
};

template <class T>
constexpr value_parts find_parts() noexcept {
  if constexpr (parts_of_type<T>::value != value_parts::none)
    return parts_of_type<T>::value;
  else if constexpr (requires { std::tuple_size<T>::value; })
    return value_parts::of_tuple;
  else if constexpr (is_collection<T>)
    return value_parts::collection;
  else
    return has_members<T> ? value_parts::members : value_parts::none;
}
template <class T>
inline constexpr value_parts parts_of = find_parts<T>();

/// The values of a collection, as they are made: the keys of a map are const there.
template <class T>
struct made_value {
  using type = T;
};
template <class K, class V>
struct made_value<std::pair<const K, V>> {
  using type = std::pair<K, V>;
};
template <class C>
using value_in = typename made_value<typename C::value_type>::type;

/// The types of the parts of a T, each as std::type_identity, in a tuple.
template <class T>
struct types_of_parts {
  static auto find() {
    if constexpr (parts_of<T> == value_parts::of_tuple)
      return []<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple<std::type_identity<std::tuple_element_t<I, T>>...>();
      }(std::make_index_sequence<std::tuple_size_v<T>>());
    else if constexpr (parts_of<T> == value_parts::members)
      return member_types<T>();
    else
      return std::tuple<std::type_identity<value_in<T>>>();
  }
  using type = decltype(find());
};
template <class T>
struct types_of_parts<std::optional<T>> {
  using type = std::tuple<std::type_identity<T>>;
};
template <class... T>
struct types_of_parts<std::variant<T...>> {
  using type = std::tuple<std::type_identity<T>...>;
};
template <class T, std::size_t N>
struct types_of_parts<T[N]> {
  using type = std::tuple<std::type_identity<T>>;
};

/// Calls f.template operator()<P>() for the type P of each part, without const, and ands.
template <class T, class F>
constexpr bool each_part(F f) noexcept {
  return []<class... P>(std::type_identity<std::tuple<std::type_identity<P>...>>, F g) {
    return (g.template operator()<std::remove_cv_t<P>>() && ...);
  }(std::type_identity<typename types_of_parts<T>::type>(), f);
}

}  // namespace weft::detail
