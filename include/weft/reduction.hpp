// SPDX-License-Identifier: Apache-2.0
// The operations of reductions: group::reduce, all_reduce and scan.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/detail/collective_ops.hpp>

namespace weft {

/// Function objects for the smaller and the larger of two values, as std::plus is for the sum.
struct minimum {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
struct maximum {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

/// Whether the operands of an operation may change places: `a op b` is `b op a`. Every operation of
/// a reduction has to be associative; commutative ones may use faster algorithms. Specialise it for
/// operations of your own:
///
///     template <> inline constexpr bool weft::is_commutative<merge_sets> = true;
template <class Op>
inline constexpr bool is_commutative = false;
template <class T>
inline constexpr bool is_commutative<std::plus<T>> = true;
template <class T>
inline constexpr bool is_commutative<std::multiplies<T>> = true;
template <class T>
inline constexpr bool is_commutative<std::bit_and<T>> = true;
template <class T>
inline constexpr bool is_commutative<std::bit_or<T>> = true;
template <class T>
inline constexpr bool is_commutative<std::bit_xor<T>> = true;
template <class T>
inline constexpr bool is_commutative<std::logical_and<T>> = true;
template <class T>
inline constexpr bool is_commutative<std::logical_or<T>> = true;
template <>
inline constexpr bool is_commutative<minimum> = true;
template <>
inline constexpr bool is_commutative<maximum> = true;

/// An operation on two elements of type T: a function object, which is copied. It may run on the
/// progress thread, so it must be short, and not block.
template <class Op, class T>
concept reduction_of = std::copy_constructible<Op> && requires(const Op& op, const T& a) {
  { op(a, a) } -> std::convertible_to<T>;
};

namespace detail {

/// out[i] = left[i] op right[i]. The loop over a block of fixed length becomes vector instructions
/// also with -O2, and `out` may be one of the operands: elements with the same index only.
/// Operands may be in memory that another process writes: `op` gets copies, which do not change.
template <class T, class Op>
void combine_elements(const Op& op, const T* left, const T* right, T* out, std::size_t count) {
  constexpr std::size_t block = 16;
  std::size_t i = 0;
  if constexpr (std::is_arithmetic_v<T>) {
    for (; count - i >= block; i += block) {
      T sums[block];
      for (std::size_t k = 0; k != block; ++k) {
        const T a = left[i + k], b = right[i + k];
        sums[k] = static_cast<T>(op(a, b));
      }
      std::copy_n(sums, block, out + i);
    }
  }
  for (; i != count; ++i) {
    const T a = left[i], b = right[i];
    out[i] = static_cast<T>(op(a, b));
  }
}

template <class T, class Op>
void combine_bytes(const void* op, const std::byte* left, const std::byte* right, std::byte* out,
                   std::size_t count) {
  const auto* const a = reinterpret_cast<const T*>(left);
  const auto* const b = reinterpret_cast<const T*>(right);
  auto* const to = reinterpret_cast<T*>(out);
  if constexpr (std::is_empty_v<Op> && std::is_default_constructible_v<Op>)
    combine_elements<T>(Op{}, a, b, to, count);
  else
    combine_elements<T>(*static_cast<const Op*>(op), a, b, to, count);
}

/// The elements of a reduction, for reduction::name: 64, 128 or 192 for signed, unsigned and
/// floating-point numbers, and their size; others: their size alone.
template <class T>
inline constexpr std::uint8_t element_name = (std::is_floating_point_v<T> ? 192
                                              : std::is_unsigned_v<T>     ? 128
                                              : std::is_integral_v<T>     ? 64
                                                                          : 0) +
                                             (sizeof(T) < 63 ? sizeof(T) : 63);

/// The operation: a number for each of those above. 0: the application's own.
template <class Op>
inline constexpr std::uint8_t operation_name = 0;
template <class T>
inline constexpr std::uint8_t operation_name<std::plus<T>> = 1;
template <class T>
inline constexpr std::uint8_t operation_name<std::multiplies<T>> = 2;
template <>
inline constexpr std::uint8_t operation_name<minimum> = 3;
template <>
inline constexpr std::uint8_t operation_name<maximum> = 4;
template <class T>
inline constexpr std::uint8_t operation_name<std::bit_and<T>> = 5;
template <class T>
inline constexpr std::uint8_t operation_name<std::bit_or<T>> = 6;
template <class T>
inline constexpr std::uint8_t operation_name<std::bit_xor<T>> = 7;
template <class T>
inline constexpr std::uint8_t operation_name<std::logical_and<T>> = 8;
template <class T>
inline constexpr std::uint8_t operation_name<std::logical_or<T>> = 9;

template <class T, class Op>
reduction make_reduction(Op op) {
  std::shared_ptr<const void> state;
  if constexpr (!std::is_empty_v<Op> || !std::is_default_constructible_v<Op>)
    state = std::make_shared<const Op>(std::move(op));
  return {sizeof(T), is_commutative<Op>, &combine_bytes<T, Op>, std::move(state),
          static_cast<std::uint16_t>(element_name<T> << 8 | operation_name<Op>)};
}

}  // namespace detail
}  // namespace weft
