// SPDX-License-Identifier: Apache-2.0
// One-sided calls between fences, and between post/start and complete/wait.
#include <algorithm>
#include <cstdint>

#include "check.hpp"

namespace conformance {
namespace {

using number = std::int64_t;

number mark(int origin, int target, std::size_t i) {
  return static_cast<number>(origin) * 1000000 + target * 10000 + static_cast<number>(i);
}

/// Each rank writes a slot of every rank's window, then reads it back from there.
void fences(check& c, std::size_t n) {
  const auto ranks = static_cast<std::size_t>(c.size);
  std::vector<number> memory(n * ranks, -1);
  MPI_Win window;
  MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size() * sizeof(number)),
                 sizeof(number), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  std::vector<number> out(n * ranks);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = mark(c.rank, as_int(k / n), k % n);
  const auto slot = static_cast<MPI_Aint>(n * static_cast<std::size_t>(c.rank));
  MPI_Win_fence(0, window);
  for (int target = 0; target < c.size; ++target)
    MPI_Put(&out[n * static_cast<std::size_t>(target)], as_int(n), MPI_INT64_T, target, slot,
            as_int(n), MPI_INT64_T, window);
  MPI_Win_fence(0, window);
  for (std::size_t k = 0; k < memory.size(); ++k)
    if (!c.equal("Put", mark(as_int(k / n), c.rank, k % n), memory[k])) break;

  std::vector<number> in(n * ranks, -1);
  MPI_Win_fence(0, window);
  for (int target = 0; target < c.size; ++target)
    MPI_Get(&in[n * static_cast<std::size_t>(target)], as_int(n), MPI_INT64_T, target, slot,
            as_int(n), MPI_INT64_T, window);
  MPI_Win_fence(0, window);
  for (std::size_t k = 0; k < in.size(); ++k)
    if (!c.equal("Get", mark(c.rank, as_int(k / n), k % n), in[k])) break;

  // All ranks add to the same numbers of rank 0, and take the maximum of others.
  std::fill(memory.begin(), memory.end(), 0);
  MPI_Win_fence(0, window);
  std::vector<number> mine(n);
  for (std::size_t i = 0; i < n; ++i) mine[i] = (c.rank + 1) * static_cast<number>(i + 1);
  MPI_Accumulate(mine.data(), as_int(n), MPI_INT64_T, 0, 0, as_int(n), MPI_INT64_T, MPI_SUM,
                 window);
  if (c.size > 1)
    MPI_Accumulate(mine.data(), as_int(n), MPI_INT64_T, 1, 0, as_int(n), MPI_INT64_T, MPI_MAX,
                   window);
  MPI_Win_fence(0, window);
  for (std::size_t i = 0; i < n; ++i) {
    const number step = static_cast<number>(i + 1);
    if (c.rank == 0 && !c.equal("Accumulate, sum", step * c.size * (c.size + 1) / 2, memory[i]))
      break;
    if (c.rank == 1 && !c.equal("Accumulate, max", step * c.size, memory[i])) break;
  }
  MPI_Win_free(&window);
}

/// Data with holes on one side.
void strided(check& c, int other) {
  constexpr int blocks = 500;
  number* memory = nullptr;
  MPI_Win window;
  MPI_Win_allocate(3 * blocks * sizeof(number), sizeof(number), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &memory, &window);
  std::fill(memory, memory + 3 * blocks, -1);
  MPI_Datatype every_third;
  MPI_Type_vector(blocks, 1, 3, MPI_INT64_T, &every_third);
  MPI_Type_commit(&every_third);
  std::vector<number> out(blocks);
  for (std::size_t i = 0; i < blocks; ++i) out[i] = mark(c.rank, other, i);
  MPI_Win_fence(0, window);
  MPI_Put(out.data(), blocks, MPI_INT64_T, other, 0, 1, every_third, window);
  MPI_Win_fence(0, window);
  for (std::size_t i = 0; i < 3 * blocks; ++i)
    if (!c.equal("Put with holes", i % 3 == 0 ? mark(other, c.rank, i / 3) : -1, memory[i])) break;
  MPI_Type_free(&every_third);
  MPI_Win_free(&window);
}

/// Only the two ranks of a pair take part.
void pairwise(check& c, int other) {
  constexpr std::size_t n = 2000;
  std::vector<number> memory(n, -1);
  MPI_Win window;
  MPI_Win_create(memory.data(), n * sizeof(number), sizeof(number), MPI_INFO_NULL, MPI_COMM_WORLD,
                 &window);
  MPI_Group world;
  MPI_Group one;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &other, &one);
  std::vector<number> out(n);
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < n; ++i) out[i] = mark(c.rank, other, i) + round;
    MPI_Win_post(one, 0, window);
    MPI_Win_start(one, 0, window);
    MPI_Put(out.data(), n, MPI_INT64_T, other, 0, n, MPI_INT64_T, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    for (std::size_t i = 0; i < n; ++i)
      if (!c.equal("Put between start and complete", mark(other, c.rank, i) + round, memory[i]))
        break;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Group_free(&one);
  MPI_Group_free(&world);
  MPI_Win_free(&window);
}

}  // namespace

void windows(check& c) {
  for (const std::size_t n : {1u, 50u, 3000u}) fences(c, n);
  const int other = partner(c) >= 0 ? partner(c) : c.rank;
  strided(c, other);
  if (c.size % 2 == 0) pairwise(c, other);
}

}  // namespace conformance
