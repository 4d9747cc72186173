// SPDX-License-Identifier: Apache-2.0
// Shared by the collective subjects: numbers that each rank contributes, and the results, which a
// formula gives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"

namespace conformance {

template <class T>
struct mpi_type;
template <>
struct mpi_type<std::int32_t> {
  static MPI_Datatype get() { return MPI_INT32_T; }
};
template <>
struct mpi_type<std::uint64_t> {
  static MPI_Datatype get() { return MPI_UINT64_T; }
};
template <>
struct mpi_type<double> {
  static MPI_Datatype get() { return MPI_DOUBLE; }
};

/// Element i of a rank's contribution; small, so that sums and products of a few stay exact in
/// every type.
template <class T>
T given(int rank, std::size_t i) {
  return static_cast<T>((static_cast<unsigned>(rank) * 5 + static_cast<unsigned>(i) * 3) % 7 + 1);
}

template <class T>
std::vector<T> gift(int rank, std::size_t n) {
  std::vector<T> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = given<T>(rank, i);
  return all;
}

/// Operator number k over the contributions of ranks 0..size-1 to element i.
enum class operation { sum, product, least, greatest };
constexpr operation operations[] = {operation::sum, operation::product, operation::least,
                                    operation::greatest};

inline MPI_Op mpi_op(operation o) {
  constexpr int count = 4;
  const MPI_Op all[count] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
  return all[static_cast<int>(o)];
}

template <class T>
T combined(operation o, int ranks, std::size_t i) {
  T result = given<T>(0, i);
  for (int rank = 1; rank < ranks; ++rank) {
    const T x = given<T>(rank, i);
    switch (o) {
      case operation::sum:
        result = static_cast<T>(result + x);
        break;
      case operation::product:
        result = static_cast<T>(result * x);
        break;
      case operation::least:
        result = std::min(result, x);
        break;
      case operation::greatest:
        result = std::max(result, x);
        break;
    }
  }
  return result;
}

/// Compares all elements with `expected(i)`; \returns whether they are right, and reports the first
/// wrong one.
template <class T, class F>
bool elements(check& c, const std::string& what, const std::vector<T>& got, F expected) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!c.equal(what + ", element " + std::to_string(i) + " of " + std::to_string(got.size()),
                 static_cast<T>(expected(i)), got[i]))
      return false;
  return true;
}

/// Counts on both sides of the sizes at which libraries change their algorithms.
inline std::vector<std::size_t> counts(const check& c) {
  std::vector<std::size_t> all{0, 1, 2, 7, 100, 1000, 2049, 10000};
  if (c.thorough || c.size <= 4) all.push_back(70001);
  if (c.thorough) all.push_back(500000);
  return all;
}

}  // namespace conformance
