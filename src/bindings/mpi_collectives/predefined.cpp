// SPDX-License-Identifier: Apache-2.0
#include "bindings/mpi_collectives/predefined.hpp"

#include <cstdint>
#include <functional>
#include <type_traits>

#include <weft/reduction.hpp>

namespace weft::mpi_collectives {

namespace {

using open_mpi::named;

struct logical_xor {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return !a != !b;
  }
};

/// One of MPI's operations, for elements of each type. `make` of a type is null where MPI does not
/// allow the operation.
using make_reduction = detail::reduction (*)();

template <class T, class Op>
constexpr make_reduction maker = [] { return detail::make_reduction<T>(Op{}); };
template <class T, class Op>
constexpr make_reduction of_integers = nullptr;
template <class T, class Op>
  requires std::is_integral_v<T>
constexpr make_reduction of_integers<T, Op> = maker<T, Op>;

/// In the order of `operations`, below.
struct reductions {
  make_reduction sum, max, min, product, bit_and, bit_or, bit_xor, logical_and, logical_or,
      logical_xor;
};
template <class T>
constexpr reductions all_of{maker<T, std::plus<>>,
                            maker<T, maximum>,
                            maker<T, minimum>,
                            maker<T, std::multiplies<>>,
                            of_integers<T, std::bit_and<>>,
                            of_integers<T, std::bit_or<>>,
                            of_integers<T, std::bit_xor<>>,
                            of_integers<T, std::logical_and<>>,
                            of_integers<T, std::logical_or<>>,
                            of_integers<T, logical_xor>};
/// MPI_BYTE.
constexpr reductions of_bytes{nullptr,
                              nullptr,
                              nullptr,
                              nullptr,
                              maker<std::uint8_t, std::bit_and<>>,
                              maker<std::uint8_t, std::bit_or<>>,
                              maker<std::uint8_t, std::bit_xor<>>,
                              nullptr,
                              nullptr,
                              nullptr};

struct operation {
  named name;
  make_reduction reductions::*which;
};
struct type {
  named name;
  std::size_t bytes;
  const reductions* how;  ///< null: no reduction
};

template <class T>
constexpr type type_of(const char* name) {
  return {named(name, named::what::object), sizeof(T), &all_of<T>};
}
constexpr type only_moved(const char* name, std::size_t bytes) {
  return {named(name, named::what::object), bytes, nullptr};
}

/// Those that programs use most come first. Of the process: they remember where MPI has them.
std::span<operation> operations() noexcept {
  constexpr auto object = named::what::object;
  static constinit operation all[] = {
      {named("ompi_mpi_op_sum", object), &reductions::sum},
      {named("ompi_mpi_op_max", object), &reductions::max},
      {named("ompi_mpi_op_min", object), &reductions::min},
      {named("ompi_mpi_op_prod", object), &reductions::product},
      {named("ompi_mpi_op_band", object), &reductions::bit_and},
      {named("ompi_mpi_op_bor", object), &reductions::bit_or},
      {named("ompi_mpi_op_bxor", object), &reductions::bit_xor},
      {named("ompi_mpi_op_land", object), &reductions::logical_and},
      {named("ompi_mpi_op_lor", object), &reductions::logical_or},
      {named("ompi_mpi_op_lxor", object), &reductions::logical_xor}};
  return all;
}
std::span<type> types() noexcept {
  static constinit type all[] = {
      type_of<double>("ompi_mpi_double"),
      type_of<int>("ompi_mpi_int"),
      {named("ompi_mpi_byte", named::what::object), 1, &of_bytes},
      only_moved("ompi_mpi_char", 1),
      type_of<float>("ompi_mpi_float"),
      type_of<long>("ompi_mpi_long"),
      type_of<std::int64_t>("ompi_mpi_int64_t"),
      type_of<std::uint64_t>("ompi_mpi_uint64_t"),
      type_of<unsigned long>("ompi_mpi_unsigned_long"),
      type_of<unsigned>("ompi_mpi_unsigned"),
      type_of<std::int32_t>("ompi_mpi_int32_t"),
      type_of<std::uint32_t>("ompi_mpi_uint32_t"),
      type_of<long long>("ompi_mpi_long_long_int"),
      type_of<unsigned long long>("ompi_mpi_unsigned_long_long"),
      type_of<short>("ompi_mpi_short"),
      type_of<unsigned short>("ompi_mpi_unsigned_short"),
      type_of<signed char>("ompi_mpi_signed_char"),
      type_of<unsigned char>("ompi_mpi_unsigned_char"),
      type_of<std::int16_t>("ompi_mpi_int16_t"),
      type_of<std::uint16_t>("ompi_mpi_uint16_t"),
      type_of<std::int8_t>("ompi_mpi_int8_t"),
      type_of<std::uint8_t>("ompi_mpi_uint8_t"),
      only_moved("ompi_mpi_character", 1),  // from here on those of Fortran
      type_of<int>("ompi_mpi_integer"),
      type_of<double>("ompi_mpi_dblprec"),
      type_of<float>("ompi_mpi_real")};
  return all;
}

type* find(handle wanted) noexcept {
  for (type& t : types())
    if (t.name.address() == wanted) return &t;
  return nullptr;
}

}  // namespace

std::size_t plain_size(handle wanted) noexcept {
  const type* const t = find(wanted);
  return t ? t->bytes : 0;
}

std::optional<detail::reduction> reduction_of(handle wanted, handle by) noexcept {
  const type* const t = find(wanted);
  if (!t || !t->how) return std::nullopt;
  for (operation& one : operations())
    if (one.name.address() == by) {
      const make_reduction make = t->how->*one.which;
      return make ? std::optional(make()) : std::nullopt;
    }
  return std::nullopt;
}

}  // namespace weft::mpi_collectives
