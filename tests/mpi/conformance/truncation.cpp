// SPDX-License-Identifier: Apache-2.0
// A message longer than its receive is an error of that receive only.
#include <initializer_list>

#include "check.hpp"

namespace conformance {

namespace {

struct too_much {
  std::size_t sent;
  std::size_t room;
};

/// Each case twice: with the receive posted before the message arrives, and after.
void play(check& c, std::initializer_list<too_much> cases) {
  const int other = partner(c);
  if (other < 0) return;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int number = 0;
  for (const auto [sent, room] : cases)
    for (const bool early : {true, false}) {
      const int tag = ++number;
      const std::string what = std::to_string(sent) + " bytes into " + std::to_string(room) +
                               (early ? ", posted before" : ", posted after");
      if (c.rank < other) {
        if (early) MPI_Recv(nullptr, 0, MPI_BYTE, other, 500, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const bytes data = made_of(seed_of(c.rank, tag), sent);
        c.equal(what + ": Send", MPI_SUCCESS,
                MPI_Send(data.data(), as_int(sent), MPI_BYTE, other, tag, MPI_COMM_WORLD));
        // The next message is whole: nothing of the first is left over.
        c.equal(what + ": Send of the next", MPI_SUCCESS,
                MPI_Send(data.data(), as_int(sent), MPI_BYTE, other, tag, MPI_COMM_WORLD));
        continue;
      }
      bytes in(room + 8, 0xee);
      int error = MPI_SUCCESS;
      if (early) {
        MPI_Request r;
        MPI_Irecv(in.data(), as_int(room), MPI_BYTE, other, tag, MPI_COMM_WORLD, &r);
        MPI_Send(nullptr, 0, MPI_BYTE, other, 500, MPI_COMM_WORLD);
        error = MPI_Wait(&r, MPI_STATUS_IGNORE);
      } else {
        MPI_Probe(other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        error = MPI_Recv(in.data(), as_int(room), MPI_BYTE, other, tag, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
      }
      int kind = MPI_SUCCESS;
      MPI_Error_class(error, &kind);
      c.equal(what + ": class of the error", MPI_ERR_TRUNCATE, kind);
      for (std::size_t i = room; i < in.size(); ++i)
        c.equal(what + ": written beyond the buffer", 0xee, in[i]);
      bytes whole(sent);
      MPI_Status s;
      c.equal(what + ": the next", MPI_SUCCESS,
              MPI_Recv(whole.data(), as_int(sent), MPI_BYTE, other, tag, MPI_COMM_WORLD, &s));
      c.status(what + ": the next", s, other, tag, sent);
      c.bytes(what + ": the next", seed_of(other, tag), whole);
    }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

}  // namespace

void truncation(check& c) {
  play(c, {{1, 0}, {8, 7}, {100, 99}, {64, 8}, {1000, 500}, {3000, 10}});
}

// A subject of its own: Open MPI 4.1's ob1 writes beyond the buffer where its rendezvous begins.
void truncation_large(check& c) {
  play(c, {{5000, 4096},
           {65537, 65536},
           {70000, 65536},
           {70000, 10},
           {300000, 70000},
           {1 << 20, 1 << 19}});
}

}  // namespace conformance
