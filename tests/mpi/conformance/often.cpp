// SPDX-License-Identifier: Apache-2.0
// Collectives that a program makes often: enough of them on each communicator that an MPI, or what
// comes before it, chooses another way for them.
#include <complex>
#include <cstdlib>
#include <fstream>

#include "collective_data.hpp"

namespace conformance {
namespace {

constexpr int often = 40;

/// Kinds and sizes in an order that all ranks know; the result of each is checked.
void mixture(check& c, MPI_Comm comm, const std::string& where) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const std::size_t counts[] = {1, 3, 4, 5, 64, 1000, 1024, 1025, 9000, 40'000};
  for (int i = 0; i != often; ++i) {
    const std::size_t n = counts[static_cast<std::size_t>(i) * 7 % std::size(counts)];
    const int root = i % size;
    const operation o = size > 6 || i % 3 != 0 ? operation::sum : operations[i % 4];
    const std::string what = where + ", call " + std::to_string(i) + ", ";
    const auto right = [&](std::size_t k) { return combined<double>(o, size, k); };
    auto mine = gift<double>(rank, n);
    std::vector<double> result(n, -1);
    switch (i % 7) {
      case 0:
        MPI_Barrier(comm);
        break;
      case 1:
        if (rank != root) mine.assign(n, 0);
        MPI_Bcast(mine.data(), as_int(n), MPI_DOUBLE, root, comm);
        elements(c, what + "Bcast", mine, [&](std::size_t k) { return given<double>(root, k); });
        break;
      case 2:
        MPI_Reduce(mine.data(), result.data(), as_int(n), MPI_DOUBLE, mpi_op(o), root, comm);
        if (rank == root) elements(c, what + "Reduce", result, right);
        break;
      case 3:
        MPI_Reduce(rank == root ? MPI_IN_PLACE : mine.data(), mine.data(), as_int(n), MPI_DOUBLE,
                   mpi_op(o), root, comm);
        if (rank == root) elements(c, what + "Reduce in place", mine, right);
        break;
      case 4:
        MPI_Allreduce(mine.data(), result.data(), as_int(n), MPI_DOUBLE, mpi_op(o), comm);
        elements(c, what + "Allreduce", result, right);
        break;
      case 5:
        MPI_Allreduce(MPI_IN_PLACE, mine.data(), as_int(n), MPI_DOUBLE, mpi_op(o), comm);
        elements(c, what + "Allreduce in place", mine, right);
        break;
      default:  // what no library does in a special way
        MPI_Allgather(mine.data(), 1, MPI_DOUBLE, std::vector<double>(size).data(), 1, MPI_DOUBLE,
                      comm);
    }
  }
}

/// A row at the root is a column elsewhere: ranks agree on the sequence of elements only.
void other_types(check& c, MPI_Comm comm) {
  constexpr int rows = 5, columns = 3;
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, columns, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i != often; ++i) {
    std::int32_t table[rows * columns] = {};
    const int root = i % c.size;
    if (c.rank == root) {
      for (int k = 0; k != rows; ++k) table[k] = 100 * i + k;
      MPI_Bcast(table, rows, MPI_INT, root, comm);
    } else {
      MPI_Bcast(table, 1, column, root, comm);
      for (int k = 0; k != rows; ++k)
        c.equal("Bcast of a row as a column", 100 * i + k, table[k * columns]);
    }
  }
  MPI_Type_free(&column);
}

void sums(check& c, MPI_Comm comm) {
  struct {
    double value;
    int rank;
  } mine{static_cast<double>((c.rank * 7 + 3) % c.size), c.rank}, least{};
  int all = 0, each = c.rank + 1, some = 0;
  float highest = 0, own = static_cast<float>(c.rank);
  std::complex<double> z(1, c.rank), sum;
  for (int i = 0; i != often; ++i) {
    MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
    c.equal("MINLOC", 0.0, least.value);
    MPI_Allreduce(&each, &all, 1, MPI_INT, MPI_BOR, comm);
    int bits = 0;
    for (int r = 0; r != c.size; ++r) bits |= r + 1;
    c.equal("BOR", bits, all);
    const int none = c.rank == i % c.size ? 7 : 0;
    MPI_Allreduce(&none, &some, 1, MPI_INT, MPI_LXOR, comm);
    c.equal("LXOR", 1, some);
    MPI_Allreduce(&own, &highest, 1, MPI_FLOAT, MPI_MAX, comm);
    c.equal("MAX of floats", c.size - 1.0, double{highest});
    MPI_Allreduce(&z, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, comm);
    c.equal("sum of complex numbers", double(c.size), sum.real());
  }
}

/// What a rank has begun before moves while it waits in a collective.
void while_another_is_under_way(check& c, MPI_Comm comm, MPI_Comm other) {
  for (int i = 0; i != often; ++i) {
    int value = c.rank == 0 ? i : -1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &request);
    if (c.rank == c.size - 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(other);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    c.equal("Ibcast across a barrier", i, value);
  }
}

/// docs/mpi.md: with the library, and ranks that share memory, the way is by flags.
void by_flags(check& c) {
  const char* const loaded = std::getenv("LD_PRELOAD");
  const char* const transports = std::getenv("WEFT_TRANSPORTS");
  const char* const here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const bool expected = loaded &&
                        std::string(loaded).find("mpi-collectives") != std::string::npos &&
                        (!transports || std::string(transports).find("shm") != std::string::npos) &&
                        here && std::atoi(here) == c.size && c.size > 1;
  bool there = false;
  std::ifstream maps("/proc/self/maps");
  for (std::string one; std::getline(maps, one);)
    there = there || one.find("weft-flags") != std::string::npos;
  c.equal("memory for flags", expected, there);
}

}  // namespace

void often_made(check& c) {
  mixture(c, MPI_COMM_WORLD, "world");
  by_flags(c);
  MPI_Comm twin = MPI_COMM_NULL, half = MPI_COMM_NULL;
  for (int i = 0; i != 3; ++i) {  // the next one may be at the same address
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_split(MPI_COMM_WORLD, c.rank % 2, -c.rank, &half);
    mixture(c, half, "half");
    mixture(c, twin, "twin");
    other_types(c, twin);
    if (i != 2) MPI_Comm_free(&twin);
    MPI_Comm_free(&half);
  }
  sums(c, twin);
  while_another_is_under_way(c, MPI_COMM_WORLD, twin);
  MPI_Comm_free(&twin);
  mixture(c, MPI_COMM_SELF, "self");
}

}  // namespace conformance
