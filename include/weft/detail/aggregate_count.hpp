// SPDX-License-Identifier: Apache-2.0
// How many members an aggregate has, as the compiler finds. Applications do not name these.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::detail {

/// An aggregate with more members has none that weft finds.
inline constexpr std::size_t most_members = 16;

/// Initializes any member of T; never evaluated. Not a base of T, and not what makes another
/// constructor of a member of it.
template <class T>
struct any_member {
  template <class U>
    requires(!std::is_base_of_v<U, T> && !std::is_same_v<U, std::allocator_arg_t>)
  operator U() const noexcept {  // NOLINT: it converts
    std::terminate();
  }
};
/// Initializes what structured bindings do not take apart: a base, and an anonymous union.
template <class T>
struct base_or_union {
  template <class U>
    requires((std::is_base_of_v<U, T> && !std::is_same_v<U, T>) || std::is_union_v<U>)
  operator U() const noexcept {  // NOLINT
    std::terminate();
  }
};

template <std::size_t, class Each>
using repeated = Each;

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{repeated<I, any_member<T>>{}...}; };
}
/// Whether T takes `N` initializers.
template <class T, std::size_t N>
inline constexpr bool takes_count = takes<T>(std::make_index_sequence<N>());

template <class T, std::size_t... I>
constexpr bool has_special(std::index_sequence<I...>) {
  return requires { T{repeated<I, any_member<T>>{}..., base_or_union<T>{}}; };
}

template <class T, std::size_t... Before, std::size_t... Inside, std::size_t... After>
constexpr bool takes_nested(std::index_sequence<Before...>, std::index_sequence<Inside...>,
                            std::index_sequence<After...>) {
  return requires {
    T{repeated<Before, any_member<T>>{}...,
      {repeated<Inside, any_member<T>>{}...},
      repeated<After, any_member<T>>{}...};
  };
}
template <class T, std::size_t Before, std::size_t Inside, std::size_t After>
inline constexpr bool takes_inside =
    takes_nested<T>(std::make_index_sequence<Before>(), std::make_index_sequence<Inside>(),
                    std::make_index_sequence<After>());

/// Initializers of T: more than its members, where one is an array of C.
template <class T, std::size_t N = 0>
constexpr std::size_t count_initializers() {
  if constexpr (N > 4 * most_members || !takes_count<T, N + 1>)
    return N;
  else
    return count_initializers<T, N + 1>();
}

/// How many of the `All` initializers go to the member that takes number `At`: an array takes
/// several, in braces of its own, and then leaves fewer to those behind it.
template <class T, std::size_t At, std::size_t All, std::size_t N>
constexpr std::size_t count_elements() {
  if constexpr (N < 2)
    return 1;
  else if constexpr (takes_inside<T, At, N, All - At - N> &&
                     !takes_inside<T, At, N, All - At - N + 1>)
    return N;
  else
    return count_elements<T, At, All, N - 1>();
}
template <class T, std::size_t All, std::size_t At = 0>
constexpr std::size_t count_members() {
  if constexpr (At >= All)
    return 0;
  else
    return 1 + count_members<T, All, At + count_elements<T, At, All, All - At>()>();
}
template <class T, std::size_t... I>
constexpr bool has_base_or_union(std::index_sequence<I...>) {
  return (has_special<T>(std::make_index_sequence<I>()) || ...);
}

/// \return the number of members; 0: it has none, or none that can be found
template <class T>
constexpr std::size_t find_members() {
  if constexpr (!std::is_aggregate_v<T> || std::is_array_v<T> || std::is_union_v<T> ||
                requires { std::tuple_size<T>::value; }) {
    return 0;
  } else {
    constexpr std::size_t all = count_initializers<T>();
    if constexpr (all == 0 || all > 4 * most_members ||
                  has_base_or_union<T>(std::make_index_sequence<all>())) {
      return 0;
    } else {
      constexpr std::size_t members = count_members<T, all>();
      return members > most_members ? 0 : members;
    }
  }
}
template <class T>
inline constexpr std::size_t member_count = find_members<std::remove_cv_t<T>>();
/// Whether the members of T are known.
template <class T>
concept has_members = member_count<T> != 0;

}  // namespace weft::detail
