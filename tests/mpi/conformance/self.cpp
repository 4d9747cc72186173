// SPDX-License-Identifier: Apache-2.0
// A rank's messages to itself, in the world and in MPI_COMM_SELF.
#include "check.hpp"

namespace conformance {

void self(check& c) {
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    const int me = comm == MPI_COMM_SELF ? 0 : c.rank;
    for (const std::size_t n : sizes(c.thorough ? c.most_bytes() : 300000)) {
      const std::string what = std::to_string(n) + " bytes to oneself";
      const bytes out = made_of(seed_of(c.rank, as_int(n)), n);
      bytes in(n);
      MPI_Request r[2];
      MPI_Status s[2];
      for (const bool receive_first : {true, false}) {
        in.assign(n, 0);
        const auto receive = [&] { MPI_Irecv(in.data(), as_int(n), MPI_BYTE, me, 1, comm, &r[1]); };
        if (receive_first) receive();
        MPI_Isend(out.data(), as_int(n), MPI_BYTE, me, 1, comm, &r[0]);
        if (!receive_first) receive();
        MPI_Waitall(2, r, s);
        c.status(what, s[1], me, 1, n);
        c.bytes(what, seed_of(c.rank, as_int(n)), in);
      }
      // Synchronous: ends as soon as the receive is posted.
      in.assign(n, 0);
      MPI_Issend(out.data(), as_int(n), MPI_BYTE, me, 2, comm, &r[0]);
      MPI_Recv(in.data(), as_int(n), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s[1]);
      MPI_Wait(&r[0], &s[0]);
      c.status(what + ", synchronously", s[1], me, 2, n);
      c.bytes(what + ", synchronously", seed_of(c.rank, as_int(n)), in);
    }
    // Probed, then received.
    MPI_Request r;
    const int sent = 17;
    int got = 0;
    MPI_Isend(&sent, 1, MPI_INT, me, 3, comm, &r);
    MPI_Message message;
    MPI_Status s;
    MPI_Mprobe(me, 3, comm, &message, &s);
    c.status("probe of oneself", s, me, 3, sizeof(int));
    MPI_Mrecv(&got, 1, MPI_INT, &message, &s);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    c.equal("probe of oneself", 17, got);
    // Many small messages, in order.
    std::vector<int> numbers(50);
    std::vector<MPI_Request> many(numbers.size());
    for (int i = 0; i < as_int(numbers.size()); ++i) {
      numbers[static_cast<std::size_t>(i)] = i;
      MPI_Isend(&numbers[static_cast<std::size_t>(i)], 1, MPI_INT, me, 4, comm,
                &many[static_cast<std::size_t>(i)]);
    }
    for (int i = 0; i < as_int(numbers.size()); ++i) {
      MPI_Recv(&got, 1, MPI_INT, me, 4, comm, &s);
      c.equal("the order of messages to oneself", i, got);
    }
    MPI_Waitall(as_int(many.size()), many.data(), MPI_STATUSES_IGNORE);
  }
}

}  // namespace conformance
