// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace conformance {

check::check(const char* subject, bool more, bool with_threads)
    : thorough(more), threads(with_threads), subject_(subject) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

void check::fail(const std::string& text) {
  constexpr int enough = 10;
  if (++failures_ > enough) return;
  std::ostringstream line;
  line << "FAILED rank " << rank << " of " << size << ", " << subject_ << ": " << text << "\n";
  if (failures_ == enough) line << "  (rank " << rank << " says no more of " << subject_ << ")\n";
  std::cerr << line.str() << std::flush;
}

bool check::equal(std::string_view what, double expected, double got) {
  if (std::abs(expected - got) <= 1e-12 * std::max(1.0, std::abs(expected))) return true;
  std::ostringstream text;
  text.precision(17);
  text << what << ": expected " << expected << ", got " << got;
  fail(text.str());
  return false;
}

bool check::bytes(std::string_view what, unsigned seed, std::span<const unsigned char> got) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == element(seed, i)) continue;
    std::ostringstream text;
    text << what << ": byte " << i << " of " << got.size() << ": expected " << int{element(seed, i)}
         << ", got " << int{got[i]};
    fail(text.str());
    return false;
  }
  return true;
}

bool check::status(std::string_view what, const MPI_Status& s, int source, int tag,
                   std::size_t count) {
  int got = -1;
  MPI_Get_count(&s, MPI_BYTE, &got);
  const std::string name(what);
  const bool from = equal(name + ": source", source, s.MPI_SOURCE);
  const bool tagged = equal(name + ": tag", tag, s.MPI_TAG);
  const bool counted = equal(name + ": count", count, got);
  return from && tagged && counted;
}

bytes made_of(unsigned seed, std::size_t count) {
  bytes all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = element(seed, i);
  return all;
}

std::vector<std::size_t> sizes(std::size_t most) {
  std::vector<std::size_t> all{0, 1, 2, 3, 5, 1000, 99991, (4 << 20) + 1, 16 << 20};
  // 8 and 44: a cache line of the ring; 192 and 4096: the inject limit; 64 KiB: eager; the others:
  // fragments.
  for (const std::size_t limit :
       std::initializer_list<std::size_t>{8, 44, 64, 128, 192, 256, 512, 1024, 4096, 8192, 16384,
                                          32768, 65536, 131072, 262144, 1 << 20})
    for (const std::size_t n : {limit - 1, limit, limit + 1}) all.push_back(n);
  std::erase_if(all, [most](std::size_t n) { return n > most; });
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace conformance
