// SPDX-License-Identifier: Apache-2.0
// Collective calls with a root, and barriers.
#include <chrono>
#include <thread>

#include "collective_data.hpp"

namespace conformance {
namespace {

template <class T>
void broadcast(check& c, std::size_t n, int root) {
  std::vector<T> data = c.rank == root ? gift<T>(root, n) : std::vector<T>(n);
  MPI_Bcast(data.data(), as_int(n), mpi_type<T>::get(), root, MPI_COMM_WORLD);
  elements(c, "Bcast from " + std::to_string(root), data,
           [&](std::size_t i) { return given<T>(root, i); });
}

template <class T>
void reduce(check& c, std::size_t n, int root) {
  for (const operation o : operations) {
    if (o == operation::product && c.size > 6) continue;  // would not stay exact
    const auto mine = gift<T>(c.rank, n);
    std::vector<T> result(c.rank == root ? n : 0);
    MPI_Reduce(mine.data(), result.data(), as_int(n), mpi_type<T>::get(), mpi_op(o), root,
               MPI_COMM_WORLD);
    elements(c, "Reduce to " + std::to_string(root), result,
             [&](std::size_t i) { return combined<T>(o, c.size, i); });
  }
  auto both = gift<T>(c.rank, n);
  if (c.rank == root)
    MPI_Reduce(MPI_IN_PLACE, both.data(), as_int(n), mpi_type<T>::get(), MPI_SUM, root,
               MPI_COMM_WORLD);
  else
    MPI_Reduce(both.data(), nullptr, as_int(n), mpi_type<T>::get(), MPI_SUM, root, MPI_COMM_WORLD);
  if (c.rank == root)
    elements(c, "Reduce in place", both,
             [&](std::size_t i) { return combined<T>(operation::sum, c.size, i); });
}

void gather_scatter(check& c, std::size_t n, int root) {
  using T = std::int32_t;
  const auto ranks = static_cast<std::size_t>(c.size);
  const auto mine = gift<T>(c.rank, n);
  std::vector<T> all(c.rank == root ? n * ranks : 0);
  MPI_Gather(mine.data(), as_int(n), MPI_INT32_T, all.data(), as_int(n), MPI_INT32_T, root,
             MPI_COMM_WORLD);
  elements(c, "Gather", all, [&](std::size_t i) { return given<T>(as_int(i / n), i % n); });

  for (std::size_t i = 0; i < all.size(); ++i) all[i] = given<T>(as_int(i / n) + 3, i % n);
  std::vector<T> part(n);
  MPI_Scatter(all.data(), as_int(n), MPI_INT32_T, part.data(), as_int(n), MPI_INT32_T, root,
              MPI_COMM_WORLD);
  elements(c, "Scatter", part, [&](std::size_t i) { return given<T>(c.rank + 3, i); });

  // Rank r has n + r elements, which lie with gaps of two at the root.
  std::vector<int> lengths;
  std::vector<int> starts;
  int end = 0;
  for (int rank = 0; rank < c.size; ++rank) {
    lengths.push_back(as_int(n) + rank);
    starts.push_back(end);
    end += lengths.back() + 2;
  }
  const std::size_t length = n + static_cast<std::size_t>(c.rank);
  const auto my_own = gift<T>(c.rank, length);
  std::vector<T> ragged(c.rank == root ? static_cast<std::size_t>(end) : 0, -1);
  MPI_Gatherv(my_own.data(), as_int(length), MPI_INT32_T, ragged.data(), lengths.data(),
              starts.data(), MPI_INT32_T, root, MPI_COMM_WORLD);
  std::vector<T> right(static_cast<std::size_t>(end), -1);
  for (int rank = 0; rank < c.size; ++rank)
    for (int i = 0; i < lengths[static_cast<std::size_t>(rank)]; ++i)
      right[static_cast<std::size_t>(starts[static_cast<std::size_t>(rank)] + i)] =
          given<T>(rank, static_cast<std::size_t>(i));
  elements(c, "Gatherv", ragged, [&](std::size_t i) { return right[i]; });
  std::vector<T> back(length);
  MPI_Scatterv(right.data(), lengths.data(), starts.data(), MPI_INT32_T, back.data(),
               as_int(length), MPI_INT32_T, root, MPI_COMM_WORLD);
  elements(c, "Scatterv", back, [&](std::size_t i) { return given<T>(c.rank, i); });
}

/// No rank leaves before all are there. The ranks share one machine, and so one clock.
void barrier(check& c) {
  using clock = std::chrono::steady_clock;
  for (int round = 0; round < 6; ++round) {
    if (c.rank == round % c.size) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    const auto arrived = clock::now().time_since_epoch().count();
    if (round % 2 == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
    } else {
      MPI_Request r;
      MPI_Ibarrier(MPI_COMM_WORLD, &r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    const std::int64_t mine[2] = {arrived, clock::now().time_since_epoch().count()};
    std::vector<std::int64_t> all(2 * static_cast<std::size_t>(c.size));
    MPI_Gather(mine, 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (c.rank != 0) continue;
    std::int64_t last = all[0];
    std::int64_t first = all[1];
    for (std::size_t i = 0; i < all.size(); i += 2) {
      last = std::max(last, all[i]);
      first = std::min(first, all[i + 1]);
    }
    c.that("nobody leaves a barrier before all are there", first >= last);
  }
}

}  // namespace

void rooted(check& c) {
  for (const std::size_t n : counts(c))
    for (const int root : {0, c.size - 1, c.size / 2}) {
      broadcast<std::int32_t>(c, n, root);
      broadcast<double>(c, n, root);
      reduce<std::int32_t>(c, n, root);
      reduce<double>(c, n, root);
      gather_scatter(c, std::max<std::size_t>(n / 4, 1), root);
    }
  barrier(c);
}

}  // namespace conformance
