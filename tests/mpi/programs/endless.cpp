// SPDX-License-Identifier: Apache-2.0
// Messages round a ring until the job is ended. Each rank prints once that it is under way: "rank R
// is process P".
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<char> out(100000, 'x');
  std::vector<char> in(out.size());
  for (long round = 0;; ++round) {
    if (round == 20) {
      std::printf("rank %d is process %d\n", rank, static_cast<int>(::getpid()));
      std::fflush(stdout);
    }
    // Large and small ones in turn, and now and then a collective call.
    const int n = round % 3 == 0 ? 8 : static_cast<int>(out.size());
    MPI_Sendrecv(out.data(), n, MPI_CHAR, (rank + 1) % size, 1, in.data(), n, MPI_CHAR,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (round % 10 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
}
