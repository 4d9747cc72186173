// SPDX-License-Identifier: Apache-2.0
// Communicators by dup, split and create, and topologies: their members, and that their messages do
// not mix.
#include "check.hpp"

namespace conformance {
namespace {

/// The sum over a communicator of a number of its members, by world rank.
int sum_over(MPI_Comm comm, int mine) {
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
  return all;
}

void duplicates(check& c, int other) {
  constexpr int copies = 12;
  MPI_Comm comm[copies];
  int in[copies];
  MPI_Request r[2 * copies];
  for (MPI_Comm& one : comm) MPI_Comm_dup(MPI_COMM_WORLD, &one);
  // The same source and tag everywhere, received in the opposite order of the sends: only the
  // communicator distinguishes the messages.
  for (int i = 0; i < copies; ++i) MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, 1, comm[i], &r[i]);
  int out[copies];
  for (int i = copies - 1; i >= 0; --i) {
    out[i] = 100 * i + c.rank;
    MPI_Isend(&out[i], 1, MPI_INT, other, 1, comm[i], &r[copies + i]);
  }
  MPI_Waitall(2 * copies, r, MPI_STATUSES_IGNORE);
  for (int i = 0; i < copies; ++i)
    c.equal("a message in communicator " + std::to_string(i), 100 * i + other, in[i]);
  int alike = MPI_UNEQUAL;
  MPI_Comm_compare(comm[0], MPI_COMM_WORLD, &alike);
  c.equal("Comm_compare", MPI_CONGRUENT, alike);
  for (MPI_Comm& one : comm) MPI_Comm_free(&one);
}

void splits(check& c) {
  for (int colours = 1; colours <= c.size; ++colours) {
    MPI_Comm part;
    const int colour = c.rank % colours;
    MPI_Comm_split(MPI_COMM_WORLD, colour, -c.rank, &part);  // the key reverses the order
    int members = 0;
    int sum = 0;
    int above = 0;
    for (int rank = colour; rank < c.size; rank += colours) {
      ++members;
      sum += rank;
      above += rank > c.rank ? 1 : 0;
    }
    int size = 0;
    int rank = -1;
    MPI_Comm_size(part, &size);
    MPI_Comm_rank(part, &rank);
    c.equal("Comm_split: size", members, size);
    c.equal("Comm_split: rank", above, rank);
    c.equal("Comm_split: sum of world ranks", sum, sum_over(part, c.rank));
    int first = c.rank;
    MPI_Bcast(&first, 1, MPI_INT, 0, part);
    c.equal("Comm_split: the highest comes first", colour + (members - 1) * colours, first);
    MPI_Comm_free(&part);
  }
  MPI_Comm nobody = MPI_COMM_WORLD;
  MPI_Comm_split(MPI_COMM_WORLD, c.rank == 0 ? MPI_UNDEFINED : 1, 0, &nobody);
  c.that("who is in no part gets none", (nobody == MPI_COMM_NULL) == (c.rank == 0));
  if (nobody != MPI_COMM_NULL) {
    c.equal("the others", c.size * (c.size - 1) / 2, sum_over(nobody, c.rank));
    MPI_Comm_free(&nobody);
  }
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int near = 0;
  MPI_Comm_size(node, &near);
  c.that("a node has some of the ranks", near >= 1 && near <= c.size);
  MPI_Comm_free(&node);
}

void groups(check& c) {
  MPI_Group world;
  MPI_Group even;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int range[1][3] = {{0, c.size - 1, 2}};
  MPI_Group_range_incl(world, 1, range, &even);
  MPI_Comm all;
  MPI_Comm_create(MPI_COMM_WORLD, even, &all);
  c.that("Comm_create: who is in it", (all != MPI_COMM_NULL) == (c.rank % 2 == 0));
  int right = 0;
  for (int rank = 0; rank < c.size; rank += 2) right += rank;
  if (all != MPI_COMM_NULL) {
    c.equal("Comm_create: sum", right, sum_over(all, c.rank));
    MPI_Comm only;
    MPI_Comm_create_group(MPI_COMM_WORLD, even, 7, &only);
    c.equal("Comm_create_group: sum", right, sum_over(only, c.rank));
    MPI_Comm_free(&only);
    MPI_Comm_free(&all);
  }
  MPI_Group_free(&even);
  MPI_Group_free(&world);
  MPI_Comm later;
  MPI_Request r;
  MPI_Comm_idup(MPI_COMM_WORLD, &later, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  c.equal("Comm_idup: sum", c.size * (c.size - 1) / 2, sum_over(later, c.rank));
  MPI_Comm_free(&later);
}

/// A ring with neighbourhood collectives.
void ring(check& c) {
  const int dims[1] = {c.size};
  const int periodic[1] = {1};
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periodic, 0, &comm);
  int below = -1;
  int above = -1;
  MPI_Cart_shift(comm, 0, 1, &below, &above);
  c.equal("Cart_shift: below", (c.rank + c.size - 1) % c.size, below);
  c.equal("Cart_shift: above", (c.rank + 1) % c.size, above);
  int from[2] = {-1, -1};
  MPI_Neighbor_allgather(&c.rank, 1, MPI_INT, from, 1, MPI_INT, comm);
  c.equal("Neighbor_allgather: below", below, from[0]);
  c.equal("Neighbor_allgather: above", above, from[1]);
  MPI_Comm_free(&comm);
}

}  // namespace

void communicators(check& c) {
  duplicates(c, partner(c) >= 0 ? partner(c) : c.rank);
  splits(c);
  groups(c);
  ring(c);
  // Many, one after the other: their context ids are reused.
  for (int i = 0; i < (c.thorough ? 2000 : 60); ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (i % 20 == 0) c.equal("one of many communicators", c.size, sum_over(comm, 1));
    MPI_Comm_free(&comm);
  }
}

}  // namespace conformance
