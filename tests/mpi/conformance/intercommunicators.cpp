// SPDX-License-Identifier: Apache-2.0
// Two groups that talk to each other: messages, collective calls, and their union.
#include "check.hpp"

namespace conformance {

void intercommunicators(check& c) {
  if (c.size < 2) return;
  const bool low = c.rank < c.size / 2;
  const int low_size = c.size / 2;
  const int mine = low ? low_size : c.size - low_size;
  const int theirs = c.size - mine;
  const int first_of_theirs = low ? low_size : 0;
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, low ? 0 : 1, c.rank, &half);
  MPI_Comm across;
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first_of_theirs, 99, &across);

  int is = 0;
  int remote = 0;
  int rank = -1;
  MPI_Comm_test_inter(across, &is);
  MPI_Comm_remote_size(across, &remote);
  MPI_Comm_rank(across, &rank);
  c.equal("Comm_test_inter", 1, is);
  c.equal("Comm_remote_size", theirs, remote);

  // Each rank to all ranks of the other side.
  for (const std::size_t n : {std::size_t{1}, std::size_t{3000}, std::size_t{80000}}) {
    std::vector<bytes> out;
    std::vector<bytes> in(static_cast<std::size_t>(theirs), bytes(n));
    std::vector<MPI_Request> r;
    for (int i = 0; i < theirs; ++i) {
      r.emplace_back();
      MPI_Irecv(in[static_cast<std::size_t>(i)].data(), as_int(n), MPI_BYTE, i, 1, across,
                &r.back());
    }
    for (int i = 0; i < theirs; ++i)
      out.push_back(made_of(seed_of(c.rank, first_of_theirs + i), n));
    for (int i = 0; i < theirs; ++i) {
      r.emplace_back();
      MPI_Isend(out[static_cast<std::size_t>(i)].data(), as_int(n), MPI_BYTE, i, 1, across,
                &r.back());
    }
    std::vector<MPI_Status> s(r.size());
    MPI_Waitall(as_int(r.size()), r.data(), s.data());
    for (int i = 0; i < theirs; ++i) {
      const auto at = static_cast<std::size_t>(i);
      c.status("from the other side", s[at], i, 1, n);
      c.bytes("from the other side", seed_of(first_of_theirs + i, c.rank), in[at]);
    }
  }

  // The sum of the other side's ranks.
  int sum = 0;
  MPI_Allreduce(&c.rank, &sum, 1, MPI_INT, MPI_SUM, across);
  int right = 0;
  for (int i = 0; i < theirs; ++i) right += first_of_theirs + i;
  c.equal("Allreduce across", right, sum);

  int word = c.rank == 0 ? 4242 : -1;
  const int root = low ? (c.rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
  MPI_Bcast(&word, 1, MPI_INT, root, across);
  c.equal("Bcast across", low && c.rank != 0 ? -1 : 4242, word);

  std::vector<int> all(static_cast<std::size_t>(theirs), -1);
  MPI_Allgather(&c.rank, 1, MPI_INT, all.data(), 1, MPI_INT, across);
  for (int i = 0; i < theirs; ++i)
    c.equal("Allgather across", first_of_theirs + i, all[static_cast<std::size_t>(i)]);
  MPI_Barrier(across);

  // Merged with the high side first.
  MPI_Comm merged;
  MPI_Intercomm_merge(across, low ? 1 : 0, &merged);
  int new_rank = -1;
  int new_size = 0;
  MPI_Comm_rank(merged, &new_rank);
  MPI_Comm_size(merged, &new_size);
  c.equal("Intercomm_merge: size", c.size, new_size);
  c.equal("Intercomm_merge: rank", low ? theirs + rank : rank, new_rank);
  int total = 0;
  MPI_Allreduce(&c.rank, &total, 1, MPI_INT, MPI_SUM, merged);
  c.equal("Allreduce of the union", c.size * (c.size - 1) / 2, total);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&across);
  MPI_Comm_free(&half);
}

}  // namespace conformance
