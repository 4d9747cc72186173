// SPDX-License-Identifier: Apache-2.0
// Probing messages before they are received: Probe, Iprobe, Mprobe, Improbe, Mrecv, Imrecv.
#include "check.hpp"

namespace conformance {
namespace {

enum class way { probe, iprobe, mprobe, improbe, imrecv };
constexpr way ways[] = {way::probe, way::iprobe, way::mprobe, way::improbe, way::imrecv};

/// Waits for a message by `w`, receives it, and \returns the two statuses.
std::pair<MPI_Status, MPI_Status> take(way w, int source, int tag, bytes& into) {
  MPI_Status seen;
  MPI_Status got;
  MPI_Message message = MPI_MESSAGE_NULL;
  int there = 0;
  switch (w) {
    case way::probe:
      MPI_Probe(source, tag, MPI_COMM_WORLD, &seen);
      break;
    case way::iprobe:
      while (!there) MPI_Iprobe(source, tag, MPI_COMM_WORLD, &there, &seen);
      break;
    case way::mprobe:
    case way::imrecv:
      MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, &seen);
      break;
    case way::improbe:
      while (!there) MPI_Improbe(source, tag, MPI_COMM_WORLD, &there, &message, &seen);
      break;
  }
  int n = 0;
  MPI_Get_count(&seen, MPI_BYTE, &n);
  into.assign(static_cast<std::size_t>(n), 0);
  if (w == way::imrecv) {
    MPI_Request r;
    MPI_Imrecv(into.data(), n, MPI_BYTE, &message, &r);
    MPI_Wait(&r, &got);
  } else if (message != MPI_MESSAGE_NULL) {
    MPI_Mrecv(into.data(), n, MPI_BYTE, &message, &got);
  } else {
    MPI_Recv(into.data(), n, MPI_BYTE, seen.MPI_SOURCE, seen.MPI_TAG, MPI_COMM_WORLD, &got);
  }
  return {seen, got};
}

/// Rank 0 gets a message of each size from all ranks, in every way, with and without wildcards.
void everybody_to_zero(check& c, bool wild) {
  const auto all = sizes(150000);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const int tag = as_int(k) + 1;
    if (c.rank != 0) {
      const bytes data = made_of(seed_of(c.rank, tag), all[k]);
      MPI_Send(data.data(), as_int(all[k]), MPI_BYTE, 0, tag, MPI_COMM_WORLD);
      continue;
    }
    std::vector<int> seen(static_cast<std::size_t>(c.size), 0);
    for (int source = 1; source < c.size; ++source) {
      bytes got;
      const way w = ways[(k + static_cast<std::size_t>(source)) % std::size(ways)];
      const auto [before, after] =
          take(w, wild ? MPI_ANY_SOURCE : source, wild ? MPI_ANY_TAG : tag, got);
      const std::string what =
          "probe by way " + std::to_string(static_cast<int>(w)) + " of " + std::to_string(all[k]);
      const int from = wild ? before.MPI_SOURCE : source;
      c.that(what + ": a source of the job", from > 0 && from < c.size);
      // Under wildcards a fast rank may be several messages ahead: the tag tells which message this
      // is.
      const int which = wild ? before.MPI_TAG : tag;
      if (!c.that(what + ": a tag that was sent", which >= 1 && which <= as_int(all.size())))
        return;
      const std::size_t n = all[static_cast<std::size_t>(which) - 1];
      c.status(what + ", looking", before, from, which, n);
      c.status(what + ", receiving", after, from, which, n);
      c.bytes(what, seed_of(from, which), got);
      ++seen[static_cast<std::size_t>(from)];
    }
    if (!wild)
      for (int source = 1; source < c.size; ++source)
        c.equal("messages of one rank", 1, seen[static_cast<std::size_t>(source)]);
  }
}

/// A message that was matched by Mprobe is invisible to all other calls.
void claimed_is_gone(check& c, int other) {
  constexpr std::size_t n = 100000;
  if (c.rank > other) {
    const bytes data[2] = {made_of(seed_of(c.rank, 0), n), made_of(seed_of(c.rank, 1), n)};
    MPI_Request r[2];
    for (int i = 0; i < 2; ++i)
      MPI_Isend(data[i].data(), as_int(n), MPI_BYTE, other, 21, MPI_COMM_WORLD, &r[i]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    return;
  }
  MPI_Message first;
  MPI_Message second;
  MPI_Mprobe(other, 21, MPI_COMM_WORLD, &first, MPI_STATUS_IGNORE);
  MPI_Mprobe(other, 21, MPI_COMM_WORLD, &second, MPI_STATUS_IGNORE);
  int there = 1;
  MPI_Iprobe(other, 21, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  c.equal("Iprobe sees a message that is claimed", 0, there);
  bytes got(n);
  MPI_Mrecv(got.data(), as_int(n), MPI_BYTE, &second, MPI_STATUS_IGNORE);
  c.bytes("the second claimed, received first", seed_of(other, 1), got);
  MPI_Mrecv(got.data(), as_int(n), MPI_BYTE, &first, MPI_STATUS_IGNORE);
  c.bytes("the first claimed, received second", seed_of(other, 0), got);
  c.that("Mrecv takes the handle", first == MPI_MESSAGE_NULL);
}

}  // namespace

void probes(check& c) {
  int there = 1;
  MPI_Status s;
  MPI_Iprobe(MPI_ANY_SOURCE, 4711, MPI_COMM_WORLD, &there, &s);
  c.equal("Iprobe with nothing there", 0, there);
  MPI_Message message;
  MPI_Improbe(MPI_ANY_SOURCE, 4711, MPI_COMM_WORLD, &there, &message, &s);
  c.equal("Improbe with nothing there", 0, there);
  MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &s);
  c.that("Mprobe of nobody", message == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(nullptr, 0, MPI_BYTE, &message, &s);

  everybody_to_zero(c, false);
  MPI_Barrier(MPI_COMM_WORLD);
  everybody_to_zero(c, true);
  MPI_Barrier(MPI_COMM_WORLD);
  if (const int other = partner(c); other >= 0) claimed_is_gone(c, other);
}

}  // namespace conformance
