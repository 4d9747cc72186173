// SPDX-License-Identifier: Apache-2.0
// Receives that are cancelled, before and after others match; they must leave nothing behind.
#include "check.hpp"

namespace conformance {
namespace {

bool cancelled(MPI_Request& r) {
  MPI_Cancel(&r);
  MPI_Status s;
  MPI_Wait(&r, &s);
  int gone = 0;
  MPI_Test_cancelled(&s, &gone);
  return gone != 0;
}

}  // namespace

void cancel(check& c) {
  bytes nothing(1000, 0xee);
  MPI_Request r;
  for (const int source : {MPI_ANY_SOURCE, c.rank, (c.rank + 1) % c.size}) {
    MPI_Irecv(nothing.data(), 1000, MPI_BYTE, source, 77, MPI_COMM_WORLD, &r);
    c.that("a receive that nobody answers is cancelled", cancelled(r));
  }

  // Many receives, some of them in the middle, and a persistent one, which may be started again.
  std::vector<MPI_Request> many(200);
  for (MPI_Request& one : many)
    MPI_Irecv(nothing.data(), 1000, MPI_BYTE, MPI_ANY_SOURCE, 78, MPI_COMM_WORLD, &one);
  for (std::size_t i = 0; i < many.size(); i += 2)
    c.that("one of many is cancelled", cancelled(many[i]));
  for (std::size_t i = 1; i < many.size(); i += 2)
    c.that("another of many is cancelled", cancelled(many[i]));

  MPI_Recv_init(nothing.data(), 1000, MPI_BYTE, MPI_ANY_SOURCE, 79, MPI_COMM_WORLD, &r);
  for (int round = 0; round < 3; ++round) {
    MPI_Start(&r);
    c.that("a persistent receive is cancelled", cancelled(r));
  }
  MPI_Request_free(&r);
  for (const unsigned char byte : nothing)
    c.equal("a cancelled receive leaves its buffer", 0xee, byte);

  // Later messages match the receive that is still there, not the cancelled one.
  MPI_Barrier(MPI_COMM_WORLD);
  const int other = partner(c);
  if (other < 0) return;
  for (const std::size_t n : {std::size_t{10}, std::size_t{5000}, std::size_t{200000}}) {
    bytes back(n, 0xee);
    bytes in(n);
    MPI_Request keep;
    MPI_Irecv(back.data(), as_int(n), MPI_BYTE, other, 80, MPI_COMM_WORLD, &r);
    MPI_Irecv(in.data(), as_int(n), MPI_BYTE, other, 80, MPI_COMM_WORLD, &keep);
    c.that("the earlier of two is cancelled", cancelled(r));
    int token = 0;
    MPI_Sendrecv(&c.rank, 1, MPI_INT, other, 81, &token, 1, MPI_INT, other, 81, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    const bytes out = made_of(seed_of(c.rank), n);
    MPI_Send(out.data(), as_int(n), MPI_BYTE, other, 80, MPI_COMM_WORLD);
    MPI_Wait(&keep, MPI_STATUS_IGNORE);
    c.bytes("the later of two gets the message", seed_of(other), in);
    c.equal("the cancelled one gets nothing", 0xee, back[0]);
  }

  // A receive that has matched is not cancelled, and has its message.
  bytes in(100);
  MPI_Irecv(in.data(), 100, MPI_BYTE, other, 82, MPI_COMM_WORLD, &r);
  const bytes out = made_of(seed_of(c.rank, 9), 100);
  MPI_Ssend(out.data(), 100, MPI_BYTE, other, 82, MPI_COMM_WORLD);
  MPI_Send(nullptr, 0, MPI_BYTE, other, 83, MPI_COMM_WORLD);
  MPI_Recv(nullptr, 0, MPI_BYTE, other, 83, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  c.that("a receive whose message has come is not cancelled", !cancelled(r));
  c.bytes("and has its message", seed_of(other, 9), in);
}

}  // namespace conformance
