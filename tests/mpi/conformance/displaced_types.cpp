// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "displaced.hpp"

namespace conformance {
namespace {

constexpr MPI_Aint int_bytes = sizeof(std::int32_t);

std::vector<std::ptrdiff_t> from(std::ptrdiff_t first, int n) {
  std::vector<std::ptrdiff_t> at(static_cast<std::size_t>(n));
  std::iota(at.begin(), at.end(), first);
  return at;
}

/// `n` ints, so many ints away from the address.
MPI_Datatype away(std::ptrdiff_t ints, int n) {
  const MPI_Aint at = ints * int_bytes;
  MPI_Datatype type;
  MPI_Type_create_hindexed(1, &n, &at, MPI_INT32_T, &type);
  return type;
}

MPI_Datatype resized(MPI_Datatype type, std::ptrdiff_t lower, std::ptrdiff_t extent) {
  MPI_Datatype other;
  MPI_Type_create_resized(type, lower * int_bytes, extent * int_bytes, &other);
  MPI_Type_free(&type);
  return other;
}

}  // namespace

std::vector<int> displaced_lengths(const check& c) {
  if (c.thorough) return {1, 40, 5000, 40000};
  return {1, 40, 40000};
}

displaced_types::displaced_types(int n) {
  add("plain", resized(away(0, n), 0, n), from(0, n), n);
  const int whole = 3 * n;
  MPI_Datatype rows;
  MPI_Type_create_subarray(1, &whole, &n, &n, MPI_ORDER_C, MPI_INT32_T, &rows);
  add("subarray", rows, from(n, n), whole);
  add("hindexed behind", away(2 * n, n), from(2 * n, n), n);
  add("hindexed before", away(-n, n), from(-n, n), n);
  add("lower bound below 0", resized(away(n, n), -n, 2 * n), from(n, n), 2 * n);
  add("lower bound above 0", resized(away(0, n), n, n), from(0, n), n);
  // The second half lies in front of the first.
  const int lengths[2] = {n - n / 2, n / 2};
  const MPI_Aint starts[2] = {2 * n * int_bytes, n * int_bytes};
  MPI_Datatype halves;
  MPI_Type_create_hindexed(2, lengths, starts, MPI_INT32_T, &halves);
  std::vector<std::ptrdiff_t> at = from(2 * n, lengths[0]);
  for (const std::ptrdiff_t one : from(n, lengths[1])) at.push_back(one);
  add("halves", resized(halves, 0, 3 * n), at, 3 * n);
}

displaced_types::~displaced_types() {
  for (placed& one : all_) MPI_Type_free(&one.type);
}

void displaced_types::add(const char* name, MPI_Datatype type, std::vector<std::ptrdiff_t> at,
                          std::ptrdiff_t extent) {
  MPI_Type_commit(&type);
  all_.push_back({name, type, std::move(at), extent});
}

area::area(const placed& layout, std::size_t items) : at_(layout.at), extent_(layout.extent) {
  constexpr std::ptrdiff_t margin = 16;
  const auto [low, high] = std::minmax_element(at_.begin(), at_.end());
  before_ = margin + std::max<std::ptrdiff_t>(0, -*low);
  const std::ptrdiff_t reach = static_cast<std::ptrdiff_t>(items) * extent_ + *high + margin;
  // MPICH 4.0 misplaces windows that it allocates of other sizes.
  constexpr std::size_t line = 64 / sizeof(std::int32_t);
  const auto whole = static_cast<std::size_t>(before_ + reach);
  memory_.assign((whole + line - 1) / line * line, -1);
}

void write(area& into, std::size_t first, std::size_t items, int from, int to) {
  for (std::size_t item = 0; item < items; ++item)
    for (std::size_t i = 0; i < into.ints(); ++i)
      into.at(first + item, i) = mark(from, to, item, i);
}

bool same(check& c, const std::string& what, area& expected, area& got) {
  const auto [right, wrong] = std::mismatch(expected.memory().begin(), expected.memory().end(),
                                            got.memory().begin(), got.memory().end());
  if (right == expected.memory().end()) return true;
  return c.equal(what + ", int " + std::to_string(wrong - got.memory().begin()) + " of " +
                     std::to_string(got.memory().size()),
                 *right, *wrong);
}

}  // namespace conformance
