// SPDX-License-Identifier: Apache-2.0
// Collective calls whose result all ranks get.
#include "collective_data.hpp"

namespace conformance {
namespace {

template <class T>
void allreduce(check& c, std::size_t n) {
  for (const operation o : operations) {
    if (o == operation::product && c.size > 6) continue;  // would not stay exact
    const auto mine = gift<T>(c.rank, n);
    std::vector<T> result(n);
    MPI_Allreduce(mine.data(), result.data(), as_int(n), mpi_type<T>::get(), mpi_op(o),
                  MPI_COMM_WORLD);
    elements(c, "Allreduce", result, [&](std::size_t i) { return combined<T>(o, c.size, i); });
  }
  auto both = gift<T>(c.rank, n);
  MPI_Allreduce(MPI_IN_PLACE, both.data(), as_int(n), mpi_type<T>::get(), MPI_SUM, MPI_COMM_WORLD);
  elements(c, "Allreduce in place", both,
           [&](std::size_t i) { return combined<T>(operation::sum, c.size, i); });
  MPI_Scan(gift<T>(c.rank, n).data(), both.data(), as_int(n), mpi_type<T>::get(), MPI_SUM,
           MPI_COMM_WORLD);
  elements(c, "Scan", both,
           [&](std::size_t i) { return combined<T>(operation::sum, c.rank + 1, i); });
  MPI_Exscan(gift<T>(c.rank, n).data(), both.data(), as_int(n), mpi_type<T>::get(), MPI_SUM,
             MPI_COMM_WORLD);
  if (c.rank > 0)
    elements(c, "Exscan", both,
             [&](std::size_t i) { return combined<T>(operation::sum, c.rank, i); });
}

void allgather(check& c, std::size_t n) {
  using T = double;
  const auto ranks = static_cast<std::size_t>(c.size);
  std::vector<T> all(n * ranks);
  MPI_Allgather(gift<T>(c.rank, n).data(), as_int(n), MPI_DOUBLE, all.data(), as_int(n), MPI_DOUBLE,
                MPI_COMM_WORLD);
  elements(c, "Allgather", all, [&](std::size_t i) { return given<T>(as_int(i / n), i % n); });
  std::vector<int> lengths;
  std::vector<int> starts;
  std::vector<T> right;
  for (int rank = 0; rank < c.size; ++rank) {
    lengths.push_back(as_int(n) * (rank % 3));
    starts.push_back(as_int(right.size()));
    const auto part = gift<T>(rank, static_cast<std::size_t>(lengths.back()));
    right.insert(right.end(), part.begin(), part.end());
  }
  all.assign(right.size(), 0);
  const int mine = lengths[static_cast<std::size_t>(c.rank)];
  MPI_Allgatherv(gift<T>(c.rank, static_cast<std::size_t>(mine)).data(), mine, MPI_DOUBLE,
                 all.data(), lengths.data(), starts.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  elements(c, "Allgatherv", all, [&](std::size_t i) { return right[i]; });
}

/// Rank `from`'s element for rank `to`.
std::int32_t element(int from, int to, std::size_t i) {
  return from * 1000000 + to * 10000 + as_int(i % 10000);
}

void alltoall(check& c, std::size_t n) {
  using T = std::int32_t;
  const auto ranks = static_cast<std::size_t>(c.size);
  std::vector<T> out(n * ranks);
  std::vector<T> in(n * ranks);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = element(c.rank, as_int(k / n), k % n);
  MPI_Alltoall(out.data(), as_int(n), MPI_INT32_T, in.data(), as_int(n), MPI_INT32_T,
               MPI_COMM_WORLD);
  elements(c, "Alltoall", in, [&](std::size_t k) { return element(as_int(k / n), c.rank, k % n); });

  // From a to b: n * ((a + b) % 3) elements.
  std::vector<int> send(ranks);
  std::vector<int> receive(ranks);
  std::vector<int> send_at(ranks);
  std::vector<int> receive_at(ranks);
  std::vector<int> send_bytes_at(ranks);
  std::vector<int> receive_bytes_at(ranks);
  std::vector<T> right;
  out.clear();
  for (int other = 0; other < c.size; ++other) {
    const auto o = static_cast<std::size_t>(other);
    send[o] = receive[o] = as_int(n) * ((c.rank + other) % 3);
    send_at[o] = as_int(out.size());
    receive_at[o] = as_int(right.size());
    send_bytes_at[o] = send_at[o] * as_int(sizeof(T));
    receive_bytes_at[o] = receive_at[o] * as_int(sizeof(T));
    for (std::size_t i = 0; i < static_cast<std::size_t>(send[o]); ++i) {
      out.push_back(element(c.rank, other, i));
      right.push_back(element(other, c.rank, i));
    }
  }
  in.assign(right.size(), 0);
  MPI_Alltoallv(out.data(), send.data(), send_at.data(), MPI_INT32_T, in.data(), receive.data(),
                receive_at.data(), MPI_INT32_T, MPI_COMM_WORLD);
  elements(c, "Alltoallv", in, [&](std::size_t i) { return right[i]; });
  in.assign(right.size(), 0);
  const std::vector<MPI_Datatype> types(ranks, MPI_INT32_T);
  MPI_Alltoallw(out.data(), send.data(), send_bytes_at.data(), types.data(), in.data(),
                receive.data(), receive_bytes_at.data(), types.data(), MPI_COMM_WORLD);
  elements(c, "Alltoallw", in, [&](std::size_t i) { return right[i]; });
}

void reduce_scatter(check& c, std::size_t n) {
  using T = std::uint64_t;
  const auto ranks = static_cast<std::size_t>(c.size);
  const auto mine = gift<T>(c.rank, n * ranks);
  std::vector<T> part(n);
  MPI_Reduce_scatter_block(mine.data(), part.data(), as_int(n), MPI_UINT64_T, MPI_SUM,
                           MPI_COMM_WORLD);
  const std::size_t start = n * static_cast<std::size_t>(c.rank);
  elements(c, "Reduce_scatter_block", part,
           [&](std::size_t i) { return combined<T>(operation::sum, c.size, start + i); });
  std::vector<int> lengths(ranks);
  std::size_t begin = 0;
  for (int rank = 0; rank < c.size; ++rank) {
    lengths[static_cast<std::size_t>(rank)] = as_int(n) * (rank % 2);
    if (rank < c.rank) begin += n * static_cast<std::size_t>(rank % 2);
  }
  part.assign(n * static_cast<std::size_t>(c.rank % 2), 0);
  MPI_Reduce_scatter(mine.data(), part.data(), lengths.data(), MPI_UINT64_T, MPI_MAX,
                     MPI_COMM_WORLD);
  elements(c, "Reduce_scatter", part,
           [&](std::size_t i) { return combined<T>(operation::greatest, c.size, begin + i); });
}

/// A user's operator that does not commute: the composition of two linear maps x -> a x + b (modulo
/// 2^32).
struct linear {
  std::uint32_t a;
  std::uint32_t b;
};
void one_after_the_other(void* in, void* inout, int* n, MPI_Datatype*) {
  const auto* first = static_cast<const linear*>(in);
  auto* second = static_cast<linear*>(inout);
  for (int i = 0; i < *n; ++i)
    second[i] = {first[i].a * second[i].a, first[i].b * second[i].a + second[i].b};
}

void own_operator(check& c, std::size_t n) {
  MPI_Datatype type;
  MPI_Type_contiguous(2, MPI_UINT32_T, &type);
  MPI_Type_commit(&type);
  MPI_Op op;
  MPI_Op_create(one_after_the_other, 0, &op);
  const auto map_of = [](int rank, std::size_t i) {
    return linear{static_cast<std::uint32_t>(2 * rank + 3), static_cast<std::uint32_t>(i + 1)};
  };
  std::vector<linear> mine(n);
  std::vector<linear> result(n);
  for (std::size_t i = 0; i < n; ++i) mine[i] = map_of(c.rank, i);
  MPI_Allreduce(mine.data(), result.data(), as_int(n), type, op, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < n; ++i) {
    linear right{1, 0};
    for (int rank = 0; rank < c.size; ++rank) {
      const linear m = map_of(rank, i);
      right = {right.a * m.a, right.b * m.a + m.b};
    }
    if (!c.equal("own operator: factor", right.a, result[i].a) ||
        !c.equal("own operator: rest", right.b, result[i].b))
      break;
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

}  // namespace

void to_all(check& c) {
  for (const std::size_t n : counts(c)) {
    allreduce<std::int32_t>(c, n);
    allreduce<double>(c, n);
    allreduce<std::uint64_t>(c, n);
    const std::size_t part = std::max<std::size_t>(n / 4, 1);
    allgather(c, part);
    alltoall(c, part);
    reduce_scatter(c, part);
    own_operator(c, n);
  }
}

}  // namespace conformance
