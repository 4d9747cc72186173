// SPDX-License-Identifier: Apache-2.0
// Shared by the subjects: rank and size, data that a formula gives, and checks that say what was
// wrong.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace conformance {

/// A subject's ranks, and the number of its failed checks. Only the thread that called MPI_Init
/// uses it, except where a subject with threads says otherwise.
class check {
 public:
  check(const char* subject, bool thorough, bool threads);

  int rank = 0;
  int size = 1;
  bool thorough;  ///< run the long form
  bool threads;   ///< MPI_THREAD_MULTIPLE was granted

  /// The largest message of the thorough subjects: small where many ranks share few cores.
  std::size_t most_bytes() const {
    return size <= 2 || thorough ? std::size_t{16} << 20 : (1 << 20) + 1;
  }

  template <class A, class B>
  bool equal(std::string_view what, const A& expected, const B& got) {
    if (std::cmp_equal(+expected, +got)) return true;
    std::ostringstream text;
    text << what << ": expected " << +expected << ", got " << +got;
    fail(text.str());
    return false;
  }
  bool equal(std::string_view what, double expected, double got);  ///< up to rounding
  bool that(std::string_view what, bool holds) {
    if (!holds) fail(std::string(what) + ": does not hold");
    return holds;
  }

  /// Whether the bytes are those of `seed`, `got` of them.
  bool bytes(std::string_view what, unsigned seed, std::span<const unsigned char> got);
  /// The parts of a status that a receive fills in.
  bool status(std::string_view what, const MPI_Status& s, int source, int tag, std::size_t count);

  void fail(const std::string& text);
  int failures() const { return failures_; }

 private:
  const char* subject_;
  int failures_ = 0;
};

using bytes = std::vector<unsigned char>;

/// Element i of the data of `seed`.
inline unsigned char element(unsigned seed, std::size_t i) {
  return static_cast<unsigned char>(seed * 167u + i * 13u + (i >> 8) * 7u + 1u);
}
bytes made_of(unsigned seed, std::size_t count);

/// One seed out of a few numbers, so that no two messages of a subject look alike.
inline unsigned seed_of(int a, int b = 0, int c = 0) {
  return static_cast<unsigned>(a) * 7919u + static_cast<unsigned>(b) * 104729u +
         static_cast<unsigned>(c) * 31u;
}

/// Sizes on both sides of every protocol's limits, and odd ones, up to `most` bytes.
std::vector<std::size_t> sizes(std::size_t most);

/// The other rank of this rank's pair, or -1 for one that is left over.
inline int partner(const check& c) {
  const int other = c.rank ^ 1;
  return other < c.size ? other : -1;
}

inline int as_int(std::size_t n) { return static_cast<int>(n); }

// The subjects, each in the file of its name.
void modes(check&);
void persistent(check&);
void persistent_buffered(check&);
void probes(check&);
void cancel(check&);
void order(check&);
void truncation(check&);
void truncation_large(check&);
void requests(check&);
void self(check&);
void datatypes(check&);
void displaced(check&);
void displaced_to_each(check&);
void displaced_to_all(check&);
void displaced_windows(check&);
void rooted(check&);
void to_all(check&);
void often_made(check&);
void nonblocking(check&);
void communicators(check&);
void intercommunicators(check&);
void windows(check&);
void locks(check&);
void threads(check&);
void flood(check&);
void overlap(check&);

}  // namespace conformance
