// SPDX-License-Identifier: Apache-2.0
// The collective calls of MPI that weft::group has as well, plain and while the application
// computes: the counterpart of bench/jobs/collective.cpp, step by step.
#include <mpi.h>

#include <cstdint>
#include <stdexcept>

#include "peers/mpi_loops.hpp"
#include "support/clock.hpp"
#include "support/collective_batches.hpp"
#include "support/collective_work.hpp"
#include "support/compute.hpp"

namespace weft::bench::mpi {
namespace {

struct loop {
  collective_work work;
  std::uint64_t units;  // of computation during each call; 0: none
  std::size_t calls;
  std::uint64_t n = 0;

  int part() { return count_of(work.out()) / ranks; }
  const int ranks;
};

void call(loop& l) {
  collective_work& w = l.work;
  switch (w.which()) {
    case collective_call::barrier:
      MPI_Barrier(MPI_COMM_WORLD);
      return;
    case collective_call::broadcast:
      MPI_Bcast(w.data().data(), count_of(w.data()), MPI_BYTE, w.root(l.n), MPI_COMM_WORLD);
      return;
    case collective_call::all_reduce:
      MPI_Allreduce(MPI_IN_PLACE, w.words().data(), static_cast<int>(w.words().size()),
                    MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
      return;
    case collective_call::all_to_all:
      MPI_Alltoall(w.out().data(), l.part(), MPI_BYTE, w.in().data(), l.part(), MPI_BYTE,
                   MPI_COMM_WORLD);
      return;
  }
}

MPI_Request start(loop& l) {
  collective_work& w = l.work;
  MPI_Request started = MPI_REQUEST_NULL;
  switch (w.which()) {
    case collective_call::barrier:
      MPI_Ibarrier(MPI_COMM_WORLD, &started);
      break;
    case collective_call::broadcast:
      MPI_Ibcast(w.data().data(), count_of(w.data()), MPI_BYTE, w.root(l.n), MPI_COMM_WORLD,
                 &started);
      break;
    case collective_call::all_reduce:
      MPI_Iallreduce(MPI_IN_PLACE, w.words().data(), static_cast<int>(w.words().size()),
                     MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &started);
      break;
    case collective_call::all_to_all:
      MPI_Ialltoall(w.out().data(), l.part(), MPI_BYTE, w.in().data(), l.part(), MPI_BYTE,
                    MPI_COMM_WORLD, &started);
      break;
  }
  return started;
}

void batch(loop& l) {
  for (std::size_t i = 0; i != l.calls; ++i, ++l.n) {
    l.work.prepare(l.n);
    if (l.units == 0) {
      call(l);
    } else {
      MPI_Request started = start(l);
      compute_units(l.units);
      MPI_Wait(&started, MPI_STATUS_IGNORE);
    }
    l.work.check(l.n);
  }
}

double alone(const loop& l) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = now_ns();
  for (std::size_t i = 0; i != l.calls; ++i) compute_units(l.units);
  MPI_Barrier(MPI_COMM_WORLD);
  return us_between(start, now_ns());
}

void verify_barrier(const loop& l) {
  if (rank() == l.ranks - 1) compute_for_us(200);
  std::int64_t came = now_ns();
  MPI_Barrier(MPI_COMM_WORLD);
  const std::int64_t left = now_ns();
  MPI_Allreduce(MPI_IN_PLACE, &came, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (left < came) throw std::runtime_error("a rank left the barrier before the last one had come");
}

void verify(loop& l) {
  if (l.work.which() == collective_call::barrier) return verify_barrier(l);
  l.work.prepare_all(l.n);
  call(l);
  l.work.check_all(l.n);
}

}  // namespace

json collective_pattern(const std::string& pattern, std::size_t size, const job& what,
                        const line_head& head, bool crowded) {
  const double compute_us = computation_us(size, pattern);
  loop l{.work{call_named(what.call), size, rank(), what.ranks},
         .units = static_cast<std::uint64_t>(compute_us * units_per_us()),
         .calls = calls_in_batch(size, compute_us, crowded),
         .ranks = what.ranks};
  collective_batches measured(l.calls, what.effort);
  for (int more = 1; more != 0;) {
    const double alone_us = l.units != 0 ? alone(l) : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = now_ns();
    batch(l);
    if (l.units != 0) MPI_Barrier(MPI_COMM_WORLD);  // as in `alone`
    more = measured.add(us_between(start, now_ns()), alone_us) ? 1 : 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);  // rank 0's clock decides for all
  }
  verify(l);
  return rank() == 0 ? collective_line(head, what, pattern, measured) : json::object();
}

}  // namespace weft::bench::mpi
