// SPDX-License-Identifier: Apache-2.0
// What a typed call, or a typed handler, is called with and gives. Applications do not name these.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <weft/coro/async_generator.hpp>
#include <weft/detail/call_codec.hpp>
#include <weft/detail/value_signature.hpp>

namespace weft::detail {

/// The types of a call. A post knows no result.
struct call_signature {
  type_name arguments;
  type_name whole;
};

template <class R>
struct result_name {
  static constexpr void add(type_name& to) noexcept { add_name<R>(to); }
};
template <class T>
struct result_name<async_generator<T>> {
  static constexpr void add(type_name& to) noexcept {
    add_name<T>(to);
    to.add("...");
  }
};

/// Elements alone have no parentheses: no number is in front of them.
template <class... Args>
constexpr type_name name_arguments() noexcept {
  type_name name;
  if constexpr (are_elements_alone<std::remove_cvref_t<Args>...>)
    add_names<std::remove_cvref_t<Args>...>(name, "", "");
  else
    add_names<std::remove_cvref_t<Args>...>(name, "(", ")");
  return name;
}
template <class R, class... Args>
constexpr call_signature sign_call() noexcept {
  call_signature s{name_arguments<Args...>(), name_arguments<Args...>()};
  s.whole.add(" -> ");
  result_name<R>::add(s.whole);
  return s;
}

/// Of a call, or of R(Args...). Lives as long as the program.
template <class R, class... Args>
inline constexpr call_signature signature_of_call = sign_call<std::remove_cv_t<R>, Args...>();

}  // namespace weft::detail
