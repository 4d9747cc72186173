// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/objects/atomic_ops.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstring>

namespace weft::ofi {

namespace {

constexpr bool little = std::endian::native == std::endian::little;
static_assert(little || std::endian::native == std::endian::big);

bool is_floating(fi_datatype t) noexcept { return t == FI_FLOAT || t == FI_DOUBLE; }

bool is_arithmetic(fi_op op) noexcept {
  return op == FI_MIN || op == FI_MAX || op == FI_SUM || op == FI_PROD;
}

bool is_of_bits(fi_op op) noexcept {
  switch (op) {
    case FI_LOR:
    case FI_LAND:
    case FI_BOR:
    case FI_BAND:
    case FI_LXOR:
    case FI_BXOR:
      return true;
    default:
      return false;
  }
}

/// Wraps around as the processor does.
template <std::integral T>
T outcome(fi_op op, T before, T operand) noexcept {
  const auto a = static_cast<std::uint64_t>(before), b = static_cast<std::uint64_t>(operand);
  switch (op) {
    case FI_MIN:
      return std::min(before, operand);
    case FI_MAX:
      return std::max(before, operand);
    case FI_SUM:
      return static_cast<T>(a + b);
    case FI_PROD:
      return static_cast<T>(a * b);
    case FI_LOR:
      return static_cast<T>(a != 0 || b != 0);
    case FI_LAND:
      return static_cast<T>(a != 0 && b != 0);
    case FI_LXOR:
      return static_cast<T>((a != 0) != (b != 0));
    case FI_BOR:
      return static_cast<T>(a | b);
    case FI_BAND:
      return static_cast<T>(a & b);
    case FI_BXOR:
      return static_cast<T>(a ^ b);
    case FI_ATOMIC_READ:
      return before;
    default:
      return operand;
  }
}

template <std::floating_point T>
T outcome(fi_op op, T before, T operand) noexcept {
  switch (op) {
    case FI_MIN:
      return std::min(before, operand);
    case FI_MAX:
      return std::max(before, operand);
    case FI_SUM:
      return before + operand;
    case FI_PROD:
      return before * operand;
    case FI_ATOMIC_READ:
      return before;
    default:
      return operand;
  }
}

/// Calls `f` with a value of the C++ type for `type`.
template <class F>
auto with_type(fi_datatype type, F f) noexcept {
  switch (type) {
    case FI_INT8:
      return f(std::int8_t{});
    case FI_UINT8:
      return f(std::uint8_t{});
    case FI_INT16:
      return f(std::int16_t{});
    case FI_UINT16:
      return f(std::uint16_t{});
    case FI_INT32:
      return f(std::int32_t{});
    case FI_UINT32:
      return f(std::uint32_t{});
    case FI_INT64:
      return f(std::int64_t{});
    case FI_FLOAT:
      return f(float{});
    case FI_DOUBLE:
      return f(double{});
    default:
      return f(std::uint64_t{});
  }
}

template <class T>
std::uint64_t bits_of(const T& value) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(reinterpret_cast<std::byte*>(&bits) + (little ? 0 : word_size - sizeof value), &value,
              sizeof value);
  return bits;
}

template <class T>
T value_of(std::uint64_t bits) noexcept {
  T value;
  std::memcpy(&value,
              reinterpret_cast<const std::byte*>(&bits) + (little ? 0 : word_size - sizeof value),
              sizeof value);
  return value;
}

std::uint64_t mask_of(fi_datatype type) noexcept {
  return ~std::uint64_t{0} >> (64 - 8 * size_of(type));
}

}  // namespace

std::size_t size_of(fi_datatype type) noexcept {
  switch (type) {
    case FI_INT8:
    case FI_UINT8:
      return 1;
    case FI_INT16:
    case FI_UINT16:
      return 2;
    case FI_INT32:
    case FI_UINT32:
    case FI_FLOAT:
      return 4;
    case FI_INT64:
    case FI_UINT64:
    case FI_DOUBLE:
      return 8;
    default:
      return 0;
  }
}

bool is_offered(atomic_kind kind, fi_datatype type, fi_op op) noexcept {
  if (size_of(type) == 0) return false;
  if (kind == atomic_kind::compare) return (op == FI_CSWAP || op == FI_MSWAP) && !is_floating(type);
  return is_arithmetic(op) || op == FI_ATOMIC_WRITE ||
         (op == FI_ATOMIC_READ && kind == atomic_kind::fetch) ||
         (is_of_bits(op) && !is_floating(type));
}

void value_change::place_at(std::uint64_t address) noexcept {
  const std::uint64_t inside = address % word_size;
  shift = static_cast<unsigned>(8 * (little ? inside : word_size - size_of(type) - inside));
}

std::uint64_t value_change::value_in(std::uint64_t word) const noexcept {
  return word >> shift & mask_of(type);
}

std::uint64_t value_change::applied_to(std::uint64_t word) const noexcept {
  const std::uint64_t before = value_in(word);
  if (op == FI_CSWAP && before != compare) return word;
  if (op == FI_MSWAP) return (word & ~(compare << shift)) | (operand & compare) << shift;
  const std::uint64_t after = with_type(type, [&](auto t) {
    using value = decltype(t);
    return bits_of(outcome(op, value_of<value>(before), value_of<value>(operand)));
  });
  return (word & ~(mask_of(type) << shift)) | after << shift;
}

std::uint64_t load_value(const void* from, fi_datatype type) noexcept {
  return with_type(type, [&](auto value) {
    std::memcpy(&value, from, sizeof value);
    return bits_of(value);
  });
}

void store_value(void* to, fi_datatype type, std::uint64_t bits) noexcept {
  with_type(type, [&](auto t) {
    const auto value = value_of<decltype(t)>(bits);
    std::memcpy(to, &value, sizeof value);
  });
}

}  // namespace weft::ofi
