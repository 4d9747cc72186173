// SPDX-License-Identifier: Apache-2.0
// Messages of types whose data do not begin at the buffer.
#include "displaced.hpp"

namespace conformance {
namespace {

using init_call = int(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
using send_call = int(const void*, int, MPI_Datatype, int, int, MPI_Comm);

constexpr struct {
  const char* name;
  init_call* call;
} inits[] = {{"Send_init", MPI_Send_init},   {"Ssend_init", MPI_Ssend_init},
             {"Bsend_init", MPI_Bsend_init}, {"Rsend_init", MPI_Rsend_init},
             {"Isend", MPI_Isend},           {"Issend", MPI_Issend},
             {"Ibsend", MPI_Ibsend}};
constexpr struct {
  const char* name;
  send_call* call;
} sends[] = {{"Send", MPI_Send}, {"Ssend", MPI_Ssend}, {"Bsend", MPI_Bsend}};

/// Receives, posted first, what `send` sends to the partner; in each round other data.
template <class F>
void message(check& c, int other, const std::string& what, const placed& in, std::size_t items,
             F send, int round = 0) {
  area expected(in, items);
  write(expected, 0, items, other + round, c.rank);
  area got(in, items);
  MPI_Request r;
  MPI_Recv_init(got.buffer(), as_int(items), in.type, other, 60, MPI_COMM_WORLD, &r);
  MPI_Start(&r);
  int ready = 0;
  MPI_Sendrecv(&c.rank, 1, MPI_INT, other, 61, &ready, 1, MPI_INT, other, 61, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  send();
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Request_free(&r);
  same(c, what, expected, got);
}

void messages(check& c, int other, const placed& out, const placed& in, std::size_t items) {
  area data(out, items);
  write(data, 0, items, c.rank, other);
  const std::string what = ", " + out.name + " to " + in.name + ", " + std::to_string(items) +
                           " of " + std::to_string(out.at.size());
  for (const auto& [name, init] : inits)
    message(c, other, name + what, in, items, [&, init = init, name = std::string(name)] {
      MPI_Request r;
      init(data.buffer(), as_int(items), out.type, other, 60, MPI_COMM_WORLD, &r);
      if (name.ends_with("_init")) MPI_Start(&r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
      if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);
    });
  for (const auto& [name, send] : sends)
    message(c, other, name + what, in, items, [&, send = send] {
      send(data.buffer(), as_int(items), out.type, other, 60, MPI_COMM_WORLD);
    });
}

/// A request that is started again sends the data of now.
void restarted(check& c, int other, const placed& out, const placed& in) {
  area data(out, 1);
  MPI_Request r;
  MPI_Send_init(data.buffer(), 1, out.type, other, 60, MPI_COMM_WORLD, &r);
  for (const int round : {0, 1, 2}) {
    write(data, 0, 1, c.rank + round, other);
    message(
        c, other, "Send_init, started again, " + out.name + " to " + in.name, in, 1,
        [&] {
          MPI_Start(&r);
          MPI_Wait(&r, MPI_STATUS_IGNORE);
        },
        round);
  }
  MPI_Request_free(&r);
}

/// The address in the type, none in the call.
void absolute(check& c, int other, std::size_t n) {
  const placed plain{"plain", MPI_INT32_T, std::vector<std::ptrdiff_t>(1), 1};
  area data(plain, n);
  write(data, 0, n, c.rank, other);
  const int length = as_int(n);
  MPI_Aint address = 0;
  MPI_Get_address(data.buffer(), &address);
  MPI_Datatype there;
  MPI_Type_create_hindexed(1, &length, &address, MPI_INT32_T, &there);
  MPI_Type_commit(&there);
  message(c, other, "Send_init of MPI_BOTTOM", plain, n, [&] {
    MPI_Request r;
    MPI_Send_init(MPI_BOTTOM, 1, there, other, 60, MPI_COMM_WORLD, &r);
    MPI_Type_free(&there);  // the request keeps it
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
  });
}

}  // namespace

void displaced(check& c) {
  const int other = partner(c);
  if (other < 0) return;
  bytes attached(8 * (std::size_t{1} << 20));
  MPI_Buffer_attach(attached.data(), as_int(attached.size()));
  for (const int n : displaced_lengths(c)) {
    const displaced_types types(n);
    for (std::size_t i = 0; i < types.size(); ++i) {
      for (const std::size_t items : {1u, 3u}) messages(c, other, types[i], types[i + 1], items);
      restarted(c, other, types[i], types[i + 1]);
    }
  }
  for (const std::size_t n : {1u, 5000u, 80000u}) absolute(c, other, n);
  void* back = nullptr;
  int length = 0;
  MPI_Buffer_detach(&back, &length);
}

}  // namespace conformance
