// SPDX-License-Identifier: Apache-2.0
// faults FAULT: 2 ranks do what Open MPI 4.1 is known to do wrong above a provider of libfabric,
// and 5.0 does right, and print the result. docs/mpi.md
#include <mpi.h>

#include <cstdio>
#include <string>

namespace {

int rank = 0;

/// A persistent send of an element in the middle of a structure.
void lower_bound() {
  const int length = 1;
  const MPI_Aint at = 2 * sizeof(int);
  MPI_Datatype third;
  MPI_Type_create_hindexed(1, &length, &at, MPI_INT, &third);
  MPI_Type_commit(&third);
  const int structure[4] = {10, 11, 12, 13};
  if (rank == 0) {
    for (const auto init : {&MPI_Send_init, &MPI_Ssend_init, &MPI_Rsend_init}) {
      MPI_Request r;
      init(structure, 1, third, 1, 0, MPI_COMM_WORLD, &r);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Start(&r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
      MPI_Request_free(&r);
    }
    MPI_Send(structure, 1, third, 1, 0, MPI_COMM_WORLD);
    return;
  }
  int got[4] = {-1, -1, -1, -1};
  for (int i = 0; i != 3; ++i) {
    MPI_Request r;
    MPI_Irecv(&got[i], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  MPI_Recv(&got[3], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::printf("instead of 12: %d %d %d; by Send: %d\n", got[0], got[1], got[2], got[3]);
}

/// Each rank sends an element in the middle of a structure to each, by persistent sends inside MPI.
void exchange() {
  const int length = 1;
  const MPI_Aint at = 2 * sizeof(int);
  MPI_Datatype third;
  MPI_Type_create_hindexed(1, &length, &at, MPI_INT, &third);
  MPI_Type_commit(&third);
  const int structure[4] = {10, 11, 12 + rank, 13};
  int got[2] = {-1, -1};
  const int one[2] = {1, 1};
  const int none[2] = {0, 0};
  const int places[2] = {0, sizeof(int)};
  const MPI_Datatype out[2] = {third, third};
  const MPI_Datatype in[2] = {MPI_INT, MPI_INT};
  MPI_Alltoallw(structure, one, none, out, got, one, places, in, MPI_COMM_WORLD);
  std::printf("rank %d: instead of 12 13: %d %d\n", rank, got[0], got[1]);
}

void synchronous_and_claimed() {
  int x = 3;
  if (rank == 0) {
    MPI_Ssend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    std::printf("the send has ended\n");
    return;
  }
  MPI_Message message;
  MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(&x, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  std::printf("received\n");
  std::fflush(stdout);
}

void cancelled_send() {
  int x = 3;
  if (rank == 1) {
    MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Request r;
  MPI_Isend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &r);
  MPI_Cancel(&r);
  MPI_Status s;
  MPI_Wait(&r, &s);
  int cancelled = 0;
  MPI_Test_cancelled(&s, &cancelled);
  if (cancelled) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  std::printf("goes on\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string fault = argc == 2 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (fault == "lower_bound") lower_bound();
  if (fault == "exchange") exchange();
  if (fault == "synchronous_and_claimed") synchronous_and_claimed();
  if (fault == "cancelled_send") cancelled_send();
  MPI_Finalize();
  return 0;
}
