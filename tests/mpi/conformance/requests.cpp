// SPDX-License-Identifier: Apache-2.0
// Many requests at once, and every way of waiting for them.
#include <algorithm>
#include <numeric>

#include "check.hpp"

namespace conformance {
namespace {

enum class wait { all, any, some, test_all, test_any, test_some };
constexpr wait waits[] = {wait::all,      wait::any,      wait::some,
                          wait::test_all, wait::test_any, wait::test_some};
constexpr const char* names[] = {"Waitall", "Waitany", "Waitsome",
                                 "Testall", "Testany", "Testsome"};

/// Completes all requests. `done(i)` is called once for each, as it is reported; the statuses are
/// put into `s`.
template <class Done>
void complete(wait w, std::vector<MPI_Request>& r, std::vector<MPI_Status>& s, Done done) {
  const int n = as_int(r.size());
  std::vector<int> which(r.size());
  std::vector<MPI_Status> some(r.size());
  const auto one = [&](int i, const MPI_Status& status) {
    s[static_cast<std::size_t>(i)] = status;
    done(static_cast<std::size_t>(i));
  };
  for (int left = n; left > 0;) {
    int i = MPI_UNDEFINED;
    int flag = 0;
    MPI_Status status;
    switch (w) {
      case wait::all:
      case wait::test_all:
        if (w == wait::all) {
          MPI_Waitall(n, r.data(), s.data());
        } else {
          while (!flag) MPI_Testall(n, r.data(), &flag, s.data());
        }
        for (std::size_t k = 0; k < r.size(); ++k) done(k);
        left = 0;
        break;
      case wait::any:
      case wait::test_any:
        if (w == wait::any) {
          MPI_Waitany(n, r.data(), &i, &status);
        } else {
          while (!flag) MPI_Testany(n, r.data(), &i, &flag, &status);
        }
        one(i, status);
        --left;
        break;
      case wait::some:
      case wait::test_some: {
        int count = 0;
        if (w == wait::some)
          MPI_Waitsome(n, r.data(), &count, which.data(), some.data());
        else
          MPI_Testsome(n, r.data(), &count, which.data(), some.data());
        for (int k = 0; k < count; ++k)
          one(which[static_cast<std::size_t>(k)], some[static_cast<std::size_t>(k)]);
        left -= count;
        break;
      }
    }
  }
}

std::size_t length(int tag) {
  constexpr std::size_t kinds[] = {0, 8, 100, 4096, 3, 20000, 64, 66000};
  return kinds[static_cast<std::size_t>(tag) % std::size(kinds)];
}

/// Each rank exchanges with all ranks, itself included; receives are posted in the opposite order
/// of the sends.
void crowd(check& c, wait w, int each) {
  const int total = each * c.size;
  std::vector<bytes> out;
  std::vector<bytes> in;
  std::vector<MPI_Request> r;
  for (int k = total - 1; k >= 0; --k) {
    const int tag = k % each;
    in.emplace_back(length(tag), static_cast<unsigned char>(0));
    r.emplace_back();
    MPI_Irecv(in.back().data(), as_int(in.back().size()), MPI_BYTE, k / each, tag, MPI_COMM_WORLD,
              &r.back());
  }
  for (int k = 0; k < total; ++k) {
    const int tag = k % each;
    out.push_back(made_of(seed_of(c.rank, k / each, tag), length(tag)));
    r.emplace_back();
    MPI_Isend(out.back().data(), as_int(out.back().size()), MPI_BYTE, k / each, tag, MPI_COMM_WORLD,
              &r.back());
  }
  std::vector<MPI_Status> s(r.size());
  std::vector<int> reported(r.size(), 0);
  complete(w, r, s, [&](std::size_t i) { ++reported[i]; });
  const std::string what = names[static_cast<int>(w)];
  for (std::size_t i = 0; i < r.size(); ++i) {
    c.equal(what + ": how often a request is reported", 1, reported[i]);
    c.that(what + ": the request is gone", r[i] == MPI_REQUEST_NULL);
  }
  for (int k = total - 1, i = 0; k >= 0; --k, ++i) {
    const int tag = k % each;
    const auto at = static_cast<std::size_t>(i);
    c.status(what, s[at], k / each, tag, length(tag));
    c.bytes(what, seed_of(k / each, c.rank, tag), in[at]);
  }
}

void nothing_to_wait_for(check& c) {
  MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int index = 0;
  int flag = 0;
  int count = 0;
  int which[2];
  MPI_Status s[2];
  MPI_Waitany(2, none, &index, s);
  c.equal("Waitany of nothing", MPI_UNDEFINED, index);
  MPI_Testany(2, none, &index, &flag, s);
  c.equal("Testany of nothing", 1, flag);
  MPI_Waitsome(2, none, &count, which, s);
  c.equal("Waitsome of nothing", MPI_UNDEFINED, count);
  MPI_Testall(2, none, &flag, s);
  c.equal("Testall of nothing", 1, flag);
}

/// Request_get_status does not free the request; a freed send still arrives.
void other_calls(check& c, int other) {
  int in = -1;
  MPI_Request r;
  MPI_Irecv(&in, 1, MPI_INT, other, 31, MPI_COMM_WORLD, &r);
  MPI_Request freed;
  MPI_Isend(&c.rank, 1, MPI_INT, other, 31, MPI_COMM_WORLD, &freed);
  MPI_Request_free(&freed);
  int flag = 0;
  MPI_Status s;
  while (!flag) MPI_Request_get_status(r, &flag, &s);
  c.that("Request_get_status leaves the request", r != MPI_REQUEST_NULL);
  c.status("Request_get_status", s, other, 31, sizeof(int));
  MPI_Wait(&r, &s);
  c.equal("a freed send arrives", other, in);
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

void requests(check& c) {
  const int each = c.thorough ? 400 : std::max(8, 160 / c.size);
  for (const wait w : waits) crowd(c, w, each);
  nothing_to_wait_for(c);
  other_calls(c, partner(c) >= 0 ? partner(c) : c.rank);
}

}  // namespace conformance
