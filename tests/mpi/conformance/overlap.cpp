// SPDX-License-Identifier: Apache-2.0
// Messages that are under way while all ranks compute: both results must be right. weft-bench
// measures the gain.
#include <cmath>

#include "check.hpp"

namespace conformance {
namespace {

/// A sum that takes a while, and that has a known value: 1 + 1/4 + 1/9 + ...
double compute(int terms) {
  double sum = 0;
  for (int i = terms; i >= 1; --i) sum += 1.0 / (static_cast<double>(i) * i);
  return sum;
}

}  // namespace

void overlap(check& c) {
  const int next = (c.rank + 1) % c.size;
  const int before = (c.rank + c.size - 1) % c.size;
  constexpr int terms = 2000000;
  const double right = 3.14159265358979323846 * 3.14159265358979323846 / 6;
  for (const std::size_t n :
       {std::size_t{100}, std::size_t{60000}, std::size_t{500000}, c.most_bytes() / 4})
    for (int round = 0; round < 3; ++round) {
      const bytes out = made_of(seed_of(c.rank, round), n);
      bytes in(n);
      MPI_Request r[2];
      MPI_Irecv(in.data(), as_int(n), MPI_BYTE, before, round, MPI_COMM_WORLD, &r[0]);
      MPI_Isend(out.data(), as_int(n), MPI_BYTE, next, round, MPI_COMM_WORLD, &r[1]);
      const double sum = compute(terms);
      MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
      c.that("the computed sum", std::abs(sum - right) < 1.0 / terms + 1e-9);
      c.bytes("what came while computing", seed_of(before, round), in);
    }
}

}  // namespace conformance
