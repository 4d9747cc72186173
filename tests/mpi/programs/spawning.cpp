// SPDX-License-Identifier: Apache-2.0
// Ranks that start as many more (MPI_Comm_spawn), and exchange messages with them: one by one over
// the intercommunicator, and by collectives over both jobs together. Ends with 1 if something is
// wrong.
#include <mpi.h>

#include <cstdio>
#include <vector>

namespace {

constexpr int long_count = 1 << 18;  // a rendezvous

int rank_in(MPI_Comm world) {
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  return rank;
}

/// Each rank and the one with its number in the other job, by long messages both ways.
bool pairs(MPI_Comm other_job, int me, bool is_child) {
  std::vector<int> out(long_count, 10 * me + (is_child ? 1 : 0)), in(long_count);
  MPI_Sendrecv(out.data(), long_count, MPI_INT, me, 1, in.data(), long_count, MPI_INT, me, 1,
               other_job, MPI_STATUS_IGNORE);
  return in == std::vector<int>(long_count, 10 * me + (is_child ? 0 : 1));
}

/// All ranks of both jobs.
bool all_together(MPI_Comm other_job, int ranks, bool is_child) {
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Intercomm_merge(other_job, is_child ? 1 : 0, &all);
  int sum = rank_in(all);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, all);
  MPI_Comm_free(&all);
  return sum == ranks * (2 * ranks - 1);  // 0 + 1 + ... + (2 * ranks - 1)
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int me = rank_in(MPI_COMM_WORLD);

  MPI_Comm other_job = MPI_COMM_NULL;
  MPI_Comm_get_parent(&other_job);
  const bool is_child = other_job != MPI_COMM_NULL;
  if (!is_child)
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, ranks, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other_job,
                   MPI_ERRCODES_IGNORE);
  const bool right = pairs(other_job, me, is_child) && all_together(other_job, ranks, is_child);
  MPI_Comm_disconnect(&other_job);
  std::printf("%s %d: %s\n", is_child ? "child" : "parent", me, right ? "right" : "wrong");
  MPI_Finalize();
  return right ? 0 : 1;
}
