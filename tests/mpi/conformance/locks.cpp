// SPDX-License-Identifier: Apache-2.0
// One-sided calls under locks: the target takes no part. Counters, exchanges, compare and swap,
// requests.
#include <algorithm>
#include <cstdint>

#include "check.hpp"

namespace conformance {
namespace {

using number = std::int64_t;

/// A window of `n` numbers at each rank, all of them `start`. All ranks may use it once it is
/// constructed.
class memory {
 public:
  memory(std::size_t n, number start) {
    MPI_Win_allocate(static_cast<MPI_Aint>(n * sizeof(number)), sizeof(number), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &base, &window);
    MPI_Win_fence(0, window);
    std::fill(base, base + n, start);
    MPI_Win_fence(0, window);
  }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;
  ~memory() { MPI_Win_free(&window); }

  /// The content of this rank's own window, after all ranks are done.
  number look(std::size_t i) const {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me(), 0, window);
    const number value = base[i];
    MPI_Win_unlock(me(), window);
    return value;
  }

  number* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;

 private:
  static int me() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }
};

/// Read, add and write under an exclusive lock: no addition may be lost.
void exclusive(check& c, int rounds) {
  const memory m(1, 0);
  for (int i = 0; i < rounds; ++i) {
    number value = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, m.window);
    MPI_Get(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, m.window);
    MPI_Win_flush(0, m.window);
    value += c.rank + 1;
    MPI_Put(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, m.window);
    MPI_Win_unlock(0, m.window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (c.rank == 0)
    c.equal("a counter under exclusive locks",
            static_cast<number>(rounds) * c.size * (c.size + 1) / 2, m.look(0));
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Tickets by Fetch_and_op: each number is drawn once.
void tickets(check& c, int each) {
  const memory m(1, 0);
  std::vector<number> drawn;
  const number one = 1;
  MPI_Win_lock_all(0, m.window);
  for (int i = 0; i < each; ++i) {
    number ticket = -1;
    MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, 0, 0, MPI_SUM, m.window);
    MPI_Win_flush(0, m.window);
    drawn.push_back(ticket);
  }
  MPI_Win_unlock_all(m.window);
  c.that("tickets of one rank rise", std::is_sorted(drawn.begin(), drawn.end()));
  std::vector<number> all(static_cast<std::size_t>(each) * static_cast<std::size_t>(c.size));
  MPI_Gather(drawn.data(), each, MPI_INT64_T, all.data(), each, MPI_INT64_T, 0, MPI_COMM_WORLD);
  if (c.rank != 0) return;
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!c.equal("a ticket is drawn once", i, all[i])) break;
}

/// A lock made of Compare_and_swap, around an addition that is not atomic by itself.
void own_lock(check& c, int rounds) {
  const memory m(2, 0);  // [0]: 0 when free, else the holder's rank + 1; [1]: the counter
  const number mine = c.rank + 1;
  const number zero = 0;
  MPI_Win_lock_all(0, m.window);
  for (int i = 0; i < rounds; ++i) {
    number seen = -1;
    do {
      MPI_Compare_and_swap(&mine, &zero, &seen, MPI_INT64_T, 0, 0, m.window);
      MPI_Win_flush(0, m.window);
    } while (seen != 0);
    number value = 0;
    MPI_Get(&value, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, m.window);
    MPI_Win_flush(0, m.window);
    ++value;
    MPI_Put(&value, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, m.window);
    MPI_Win_flush(0, m.window);
    number holder = -1;
    MPI_Fetch_and_op(&zero, &holder, MPI_INT64_T, 0, 0, MPI_REPLACE, m.window);
    MPI_Win_flush(0, m.window);
    c.equal("who held the lock", mine, holder);
  }
  MPI_Win_unlock_all(m.window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (c.rank == 0) c.equal("a counter under a lock of one's own", rounds * c.size, m.look(1));
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Rput, Rget and Get_accumulate, shared locks, and a target that makes no MPI calls in the
/// meantime.
void with_requests(check& c, std::size_t n) {
  const auto ranks = static_cast<std::size_t>(c.size);
  const memory m(n * ranks, 0);
  std::vector<number> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = c.rank * 1000 + static_cast<number>(i);
  const auto slot = static_cast<MPI_Aint>(n * static_cast<std::size_t>(c.rank));
  const int count = as_int(n);
  for (int target = 0; target < c.size; ++target) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, m.window);
    MPI_Request r;
    MPI_Rput(out.data(), count, MPI_INT64_T, target, slot, count, MPI_INT64_T, m.window, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_flush(target, m.window);
    std::vector<number> back(n, -1);
    MPI_Rget(back.data(), count, MPI_INT64_T, target, slot, count, MPI_INT64_T, m.window, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < n; ++i)
      if (!c.equal("Rget", out[i], back[i])) break;
    std::vector<number> old(n, -1);
    MPI_Get_accumulate(out.data(), count, MPI_INT64_T, old.data(), count, MPI_INT64_T, target, slot,
                       count, MPI_INT64_T, MPI_SUM, m.window);
    MPI_Win_unlock(target, m.window);
    for (std::size_t i = 0; i < n; ++i)
      if (!c.equal("Get_accumulate: what was there", out[i], old[i])) break;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, c.rank, 0, m.window);
  for (std::size_t k = 0; k < n * ranks; ++k)
    if (!c.equal("Get_accumulate: what is there now",
                 2 * (static_cast<number>(k / n) * 1000 + static_cast<number>(k % n)), m.base[k]))
      break;
  MPI_Win_unlock(c.rank, m.window);
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

void locks(check& c) {
  exclusive(c, c.thorough ? 300 : 20);
  tickets(c, c.thorough ? 1000 : 50);
  own_lock(c, c.thorough ? 100 : 5);
  for (const std::size_t n : {1u, 700u, 20000u}) with_requests(c, n);
}

}  // namespace conformance
