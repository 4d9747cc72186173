// SPDX-License-Identifier: Apache-2.0
// All ranks send to one that is slow to receive: nothing is lost, and no rank waits for ever.
#include <chrono>
#include <thread>

#include "check.hpp"

namespace conformance {
namespace {

void flood_to(check& c, int sink, std::size_t n, int each, bool backwards) {
  const std::string what = "flood of " + std::to_string(n) + " bytes";
  if (c.rank != sink) {
    std::vector<bytes> out;
    std::vector<MPI_Request> r(static_cast<std::size_t>(each));
    for (int i = 0; i < each; ++i) out.push_back(made_of(seed_of(c.rank, i), n));
    for (int i = 0; i < each; ++i)
      MPI_Isend(out[static_cast<std::size_t>(i)].data(), as_int(n), MPI_BYTE, sink, i,
                MPI_COMM_WORLD, &r[static_cast<std::size_t>(i)]);
    MPI_Waitall(each, r.data(), MPI_STATUSES_IGNORE);
    return;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  bytes in(n);
  // The last tag first: all other messages stay unexpected.
  for (int k = 0; k < each; ++k) {
    const int tag = backwards ? each - 1 - k : k;
    for (int source = 0; source < c.size; ++source) {
      if (source == sink) continue;
      MPI_Status s;
      MPI_Recv(in.data(), as_int(n), MPI_BYTE, source, tag, MPI_COMM_WORLD, &s);
      if (!c.status(what, s, source, tag, n) || !c.bytes(what, seed_of(source, tag), in)) return;
    }
  }
}

}  // namespace

void flood(check& c) {
  if (c.size < 2) return;
  const int scale = c.thorough ? 10 : 1;
  for (const int sink : {0, c.size - 1})
    for (const bool backwards : {false, true}) {
      flood_to(c, sink, 8, 2000 * scale / c.size, backwards);
      flood_to(c, sink, 4000, 1000 * scale / c.size, backwards);
      flood_to(c, sink, 70000, 100 * scale / c.size, backwards);
      MPI_Barrier(MPI_COMM_WORLD);
    }
}

}  // namespace conformance
