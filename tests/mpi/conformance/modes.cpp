// SPDX-License-Identifier: Apache-2.0
// Every mode of sending, blocking and not, at every size.
#include "check.hpp"

namespace conformance {
namespace {

enum class mode { standard, buffered, synchronous, ready };
constexpr mode all_modes[] = {mode::standard, mode::buffered, mode::synchronous, mode::ready};
constexpr const char* names[] = {"Send", "Bsend", "Ssend", "Rsend"};

void send(mode m, const bytes& data, int to, int tag) {
  const int n = as_int(data.size());
  switch (m) {
    case mode::standard:
      MPI_Send(data.data(), n, MPI_BYTE, to, tag, MPI_COMM_WORLD);
      return;
    case mode::buffered:
      MPI_Bsend(data.data(), n, MPI_BYTE, to, tag, MPI_COMM_WORLD);
      return;
    case mode::synchronous:
      MPI_Ssend(data.data(), n, MPI_BYTE, to, tag, MPI_COMM_WORLD);
      return;
    case mode::ready:
      MPI_Rsend(data.data(), n, MPI_BYTE, to, tag, MPI_COMM_WORLD);
      return;
  }
}

MPI_Request start(mode m, const bytes& data, int to, int tag) {
  const int n = as_int(data.size());
  MPI_Request r = MPI_REQUEST_NULL;
  switch (m) {
    case mode::standard:
      MPI_Isend(data.data(), n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &r);
      break;
    case mode::buffered:
      MPI_Ibsend(data.data(), n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &r);
      break;
    case mode::synchronous:
      MPI_Issend(data.data(), n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &r);
      break;
    case mode::ready:
      MPI_Irsend(data.data(), n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &r);
      break;
  }
  return r;
}

/// A ready send needs its receive to be posted: the receiver says when it is.
constexpr int go_tag = 999;
void say_ready(int to) { MPI_Send(nullptr, 0, MPI_BYTE, to, go_tag, MPI_COMM_WORLD); }
void hear_ready(int from) {
  MPI_Recv(nullptr, 0, MPI_BYTE, from, go_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void send_one(mode m, bool blocking, std::size_t n, int to, int tag, int rank) {
  const bytes data = made_of(seed_of(rank, tag), n);
  if (m == mode::ready) hear_ready(to);
  if (blocking) {
    send(m, data, to, tag);
  } else {
    MPI_Request r = start(m, data, to, tag);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
}

void receive_one(check& c, mode m, bool blocking, std::size_t n, int from, int tag) {
  bytes got(n + 4, 0xee);
  const std::string what = std::string(names[static_cast<int>(m)]) +
                           (blocking ? "" : " (non-blocking)") + " of " + std::to_string(n) +
                           " bytes";
  MPI_Status s;
  if (blocking && m != mode::ready) {
    MPI_Recv(got.data(), as_int(got.size()), MPI_BYTE, from, tag, MPI_COMM_WORLD, &s);
  } else {
    MPI_Request r;
    MPI_Irecv(got.data(), as_int(got.size()), MPI_BYTE, from, tag, MPI_COMM_WORLD, &r);
    if (m == mode::ready) say_ready(from);
    MPI_Wait(&r, &s);
  }
  c.status(what, s, from, tag, n);
  c.bytes(what, seed_of(from, tag), std::span(got).first(n));
  for (std::size_t i = n; i < got.size(); ++i) c.equal(what + ": beyond the end", 0xee, got[i]);
}

/// A synchronous send must not end before its receive has begun.
void synchronous_waits(check& c, int other) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{100}, std::size_t{200000}}) {
    const bytes data = made_of(seed_of(c.rank), n);
    if (c.rank < other) {
      MPI_Request r = start(mode::synchronous, data, other, 5);
      MPI_Send(nullptr, 0, MPI_BYTE, other, 6, MPI_COMM_WORLD);
      MPI_Recv(nullptr, 0, MPI_BYTE, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      int done = 0;
      for (int i = 0; i < 200; ++i) MPI_Test(&r, &done, MPI_STATUS_IGNORE);
      c.equal("Issend has ended before its receive began", 0, done);
      MPI_Send(nullptr, 0, MPI_BYTE, other, 8, MPI_COMM_WORLD);
      if (!done) MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(nullptr, 0, MPI_BYTE, other, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(nullptr, 0, MPI_BYTE, other, 7, MPI_COMM_WORLD);
      MPI_Recv(nullptr, 0, MPI_BYTE, other, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      bytes got(n);
      MPI_Recv(got.data(), as_int(n), MPI_BYTE, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      c.bytes("Issend", seed_of(other), got);
    }
  }
}

}  // namespace

void modes(check& c) {
  const int other = partner(c);
  if (other < 0) return;
  const std::size_t most = c.most_bytes();
  bytes attached(most + MPI_BSEND_OVERHEAD);
  MPI_Buffer_attach(attached.data(), as_int(attached.size()));
  for (const bool blocking : {true, false})
    for (const mode m : all_modes) {
      int tag = 0;
      // The longest size only once: the protocol beneath does not depend on the mode.
      const bool all_sizes = c.thorough || (m == mode::standard && blocking);
      for (const std::size_t n : sizes(all_sizes ? most : std::min<std::size_t>(most, 200000))) {
        ++tag;
        for (const bool forth : {true, false}) {
          if ((c.rank < other) == forth)
            send_one(m, blocking, n, other, tag, c.rank);
          else
            receive_one(c, m, blocking, n, other, tag);
        }
      }
    }
  synchronous_waits(c, other);
  void* back = nullptr;
  int length = 0;
  MPI_Buffer_detach(&back, &length);
  c.that("Buffer_detach gives the buffer back", back == attached.data());
}

}  // namespace conformance
