// SPDX-License-Identifier: Apache-2.0
// Non-blocking collective calls: several at once, mixed with messages, finished in another order
// than begun.
#include "collective_data.hpp"

namespace conformance {
namespace {

using T = std::int32_t;

void many_at_once(check& c, std::size_t n) {
  const auto ranks = static_cast<std::size_t>(c.size);
  const int root = c.size - 1;
  const auto mine = gift<T>(c.rank, n * ranks);
  std::vector<T> sum(n);
  std::vector<T> spread = c.rank == root ? gift<T>(root, n) : std::vector<T>(n);
  std::vector<T> gathered(n * ranks);
  std::vector<T> exchanged(n * ranks);
  std::vector<T> reduced(n);
  std::vector<T> scanned(n);
  std::vector<T> scattered(n);
  std::vector<T> block(n);
  std::vector<T> collected(c.rank == root ? n * ranks : 0);
  const int count = as_int(n);
  MPI_Request r[10];
  MPI_Iallreduce(mine.data(), sum.data(), count, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD, &r[0]);
  MPI_Ibcast(spread.data(), count, MPI_INT32_T, root, MPI_COMM_WORLD, &r[1]);
  MPI_Iallgather(mine.data(), count, MPI_INT32_T, gathered.data(), count, MPI_INT32_T,
                 MPI_COMM_WORLD, &r[2]);
  MPI_Ialltoall(mine.data(), count, MPI_INT32_T, exchanged.data(), count, MPI_INT32_T,
                MPI_COMM_WORLD, &r[3]);
  MPI_Ireduce(mine.data(), reduced.data(), count, MPI_INT32_T, MPI_MAX, root, MPI_COMM_WORLD,
              &r[4]);
  MPI_Iscan(mine.data(), scanned.data(), count, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD, &r[5]);
  MPI_Iscatter(mine.data(), count, MPI_INT32_T, scattered.data(), count, MPI_INT32_T, root,
               MPI_COMM_WORLD, &r[6]);
  MPI_Ireduce_scatter_block(mine.data(), block.data(), count, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD,
                            &r[7]);
  MPI_Igather(mine.data(), count, MPI_INT32_T, collected.data(), count, MPI_INT32_T, root,
              MPI_COMM_WORLD, &r[8]);
  MPI_Ibarrier(MPI_COMM_WORLD, &r[9]);

  // A message of the same communicator in the meantime.
  const int next = (c.rank + 1) % c.size;
  const int before = (c.rank + c.size - 1) % c.size;
  const bytes out = made_of(seed_of(c.rank), n);
  bytes in(n);
  MPI_Sendrecv(out.data(), count, MPI_BYTE, next, 5, in.data(), count, MPI_BYTE, before, 5,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  c.bytes("a message amid collectives", seed_of(before), in);
  for (int i = 9; i >= 0; i -= 2) MPI_Wait(&r[i], MPI_STATUS_IGNORE);
  MPI_Waitall(10, r, MPI_STATUSES_IGNORE);

  elements(c, "Iallreduce", sum,
           [&](std::size_t i) { return combined<T>(operation::sum, c.size, i); });
  elements(c, "Ibcast", spread, [&](std::size_t i) { return given<T>(root, i); });
  elements(c, "Iallgather", gathered,
           [&](std::size_t i) { return given<T>(as_int(i / n), i % n); });
  const std::size_t start = n * static_cast<std::size_t>(c.rank);
  elements(c, "Ialltoall", exchanged,
           [&](std::size_t i) { return given<T>(as_int(i / n), start + i % n); });
  if (c.rank == root)
    elements(c, "Ireduce", reduced,
             [&](std::size_t i) { return combined<T>(operation::greatest, c.size, i); });
  elements(c, "Iscan", scanned,
           [&](std::size_t i) { return combined<T>(operation::sum, c.rank + 1, i); });
  elements(c, "Iscatter", scattered, [&](std::size_t i) { return given<T>(root, start + i); });
  elements(c, "Ireduce_scatter_block", block,
           [&](std::size_t i) { return combined<T>(operation::sum, c.size, start + i); });
  elements(c, "Igather", collected, [&](std::size_t i) { return given<T>(as_int(i / n), i % n); });
}

/// A row of sums; none is waited for before all have begun.
void row(check& c) {
  constexpr std::size_t n = 30;
  std::vector<T> results(n);
  std::vector<T> mine(n);
  std::vector<MPI_Request> r(n);
  for (std::size_t i = 0; i < n; ++i) {
    mine[i] = given<T>(c.rank, i);
    MPI_Iallreduce(&mine[i], &results[i], 1, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD, &r[i]);
  }
  MPI_Waitall(as_int(n), r.data(), MPI_STATUSES_IGNORE);
  elements(c, "one of a row of Iallreduce", results,
           [&](std::size_t i) { return combined<T>(operation::sum, c.size, i); });
}

}  // namespace

void nonblocking(check& c) {
  for (const std::size_t n : {1u, 3u, 500u, 5000u, 40000u})
    if (c.thorough || c.size <= 4 || n < 20000) many_at_once(c, n);
  row(c);
}

}  // namespace conformance
