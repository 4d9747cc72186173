// SPDX-License-Identifier: Apache-2.0
// lonely: many barriers, then rank 1 is killed while the others wait for it in one more.
#include <mpi.h>

#include <csignal>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i != 100; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) std::raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
