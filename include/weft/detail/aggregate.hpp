// SPDX-License-Identifier: Apache-2.0
// The members of an aggregate. Applications do not name these.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/detail/aggregate_count.hpp>

namespace weft::detail {

template <class... M>
struct member_list {};

/// Calls f with the types of the members, and with the members, in their order.
/// \param of an object, which may be const. \param f of no bit-field, unless by const reference
template <class T, class F>
constexpr decltype(auto) with_members(T& of, F&& f) {
  constexpr std::size_t n = member_count<T>;
  if constexpr (n == 1) {
    auto& [a] = of;
    return f(member_list<decltype(a)>{}, a);
  } else if constexpr (n == 2) {
    auto& [a, b] = of;
    return f(member_list<decltype(a), decltype(b)>{}, a, b);
  } else if constexpr (n == 3) {
    auto& [a, b, c] = of;
    return f(member_list<decltype(a), decltype(b), decltype(c)>{}, a, b, c);
  } else if constexpr (n == 4) {
    auto& [a, b, c, d] = of;
    return f(member_list<decltype(a), decltype(b), decltype(c), decltype(d)>{}, a, b, c, d);
  } else if constexpr (n == 5) {
    auto& [a, b, c, d, e] = of;
    return f(member_list<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e)>{}, a, b,
             c, d, e);
  } else if constexpr (n == 6) {
    auto& [a, b, c, d, e, g] = of;
    return f(
        member_list<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e), decltype(g)>{},
        a, b, c, d, e, g);
  } else if constexpr (n == 7) {
    auto& [a, b, c, d, e, g, h] = of;
    return f(member_list<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(g), decltype(h)>{},
             a, b, c, d, e, g, h);
  } else if constexpr (n == 8) {
    auto& [a, b, c, d, e, g, h, i] = of;
    return f(member_list<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(g), decltype(h), decltype(i)>{},
             a, b, c, d, e, g, h, i);
  } else if constexpr (n == 9) {
    auto& [a, b, c, d, e, g, h, i, j] = of;
    return f(member_list<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(g), decltype(h), decltype(i), decltype(j)>{},
             a, b, c, d, e, g, h, i, j);
  } else if constexpr (n == 10) {
    auto& [a, b, c, d, e, g, h, i, j, k] = of;
    return f(member_list<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(g), decltype(h), decltype(i), decltype(j), decltype(k)>{},
             a, b, c, d, e, g, h, i, j, k);
  } else if constexpr (n == 11) {
    auto& [a, b, c, d, e, g, h, i, j, k, l] = of;
    return f(
        member_list<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e), decltype(g),
                    decltype(h), decltype(i), decltype(j), decltype(k), decltype(l)>{},
        a, b, c, d, e, g, h, i, j, k, l);
  } else if constexpr (n == 12) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m] = of;
    return f(
        member_list<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e), decltype(g),
                    decltype(h), decltype(i), decltype(j), decltype(k), decltype(l), decltype(m)>{},
        a, b, c, d, e, g, h, i, j, k, l, m);
  } else if constexpr (n == 13) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o] = of;
    return f(member_list<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(g), decltype(h), decltype(i), decltype(j), decltype(k),
                         decltype(l), decltype(m), decltype(o)>{},
             a, b, c, d, e, g, h, i, j, k, l, m, o);
  } else if constexpr (n == 14) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p] = of;
    return f(member_list<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(g), decltype(h), decltype(i), decltype(j), decltype(k),
                         decltype(l), decltype(m), decltype(o), decltype(p)>{},
             a, b, c, d, e, g, h, i, j, k, l, m, o, p);
  } else if constexpr (n == 15) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q] = of;
    return f(member_list<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                         decltype(g), decltype(h), decltype(i), decltype(j), decltype(k),
                         decltype(l), decltype(m), decltype(o), decltype(p), decltype(q)>{},
             a, b, c, d, e, g, h, i, j, k, l, m, o, p, q);
  } else if constexpr (n == 16) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r] = of;
    return f(
        member_list<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e), decltype(g),
                    decltype(h), decltype(i), decltype(j), decltype(k), decltype(l), decltype(m),
                    decltype(o), decltype(p), decltype(q), decltype(r)>{},
        a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r);
  }
}

/// The types of the members, as std::tuple<std::type_identity<M>...>.
template <class T>
using member_types =
    decltype(with_members(std::declval<T&>(), []<class... M>(member_list<M...>, const auto&...) {
      return std::tuple<std::type_identity<M>...>();
    }));

}  // namespace weft::detail
