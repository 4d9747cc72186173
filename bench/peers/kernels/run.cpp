// SPDX-License-Identifier: Apache-2.0
#include "peers/kernels/run.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <thread>
#include <vector>

#include "peers/kernels/kernel.hpp"
#include "support/clock.hpp"

namespace weft::bench::mpi {
namespace {

/// Milliseconds of each solution. The first one, which connects ranks and touches memory, does not
/// count. Rank 0 decides for all whether another follows.
std::vector<double> solve_often(kernel& problem, double effort) {
  constexpr std::size_t most = 20;
  const double enough_ms = 300 * effort;
  std::vector<double> took;
  problem.solve();
  double sum = 0;
  for (int more = 1; more != 0;) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = now_ns();
    problem.solve();
    MPI_Barrier(MPI_COMM_WORLD);
    took.push_back(us_between(start, now_ns()) / 1000);
    sum += took.back();
    more = took.size() < most && sum < enough_ms ? 1 : 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return took;
}

/// Until rank 0 comes too. It computes alone meanwhile, so the others leave it their cores.
void wait_for_rank_0() {
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  for (int done = 0; done == 0; MPI_Test(&all, &done, MPI_STATUS_IGNORE))
    if (rank_in(MPI_COMM_WORLD) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Whether the ranks' parts together are the solution of one process; on rank 0 alone.
std::string compare_with_one(const kernel& problem, const std::string& name,
                             const std::string& problem_class) {
  fingerprint together;
  problem.add_to(together);
  const auto sums = together.sums();
  std::vector<double> all(sums.size());
  MPI_Reduce(sums.data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, 0,
             MPI_COMM_WORLD);
  std::copy(all.begin(), all.end(), sums.begin());
  std::string difference;
  if (rank_in(MPI_COMM_WORLD) == 0) {
    const auto alone = make_kernel(name, problem_class, MPI_COMM_SELF);
    alone->solve();
    fingerprint expected;
    alone->add_to(expected);
    difference = together.difference(expected, problem.tolerance());
  }
  wait_for_rank_0();
  return difference;
}

}  // namespace

json solve_kernel(const std::string& name, const job& what, const line_head& head) {
  const auto problem = make_kernel(name, what.problem_class, MPI_COMM_WORLD);
  const auto took = solve_often(*problem, what.effort);

  const double error = problem->error();
  std::string wrong;
  if (!(error <= problem->allowed_error()))
    wrong = fmt::format("its error is {}, more than {}", error, problem->allowed_error());
  if (size_of(MPI_COMM_WORLD) > 1) {
    const auto difference = compare_with_one(*problem, name, what.problem_class);
    if (wrong.empty() && !difference.empty())
      wrong = "it is not that of one process: " + difference;
  }
  int right = wrong.empty() ? 1 : 0;
  MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);

  json line;
  if (rank_in(MPI_COMM_WORLD) == 0) {
    line = make_line(head, solve_ms, took);
    line["pattern"] = name;
    line["class"] = what.problem_class;
    line["error"] = error;
    if (right == 0)
      line["wrong"] = fmt::format("{} of class {}: the solution of {} ranks is wrong; {}", name,
                                  what.problem_class, size_of(MPI_COMM_WORLD), wrong);
  }
  line["verified"] = right != 0;
  return line;
}

}  // namespace weft::bench::mpi
