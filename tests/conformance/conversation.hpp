// SPDX-License-Identifier: Apache-2.0
// Two ends that communicate: over every transport, in one process and in two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/expect.hpp"
#include "support/pattern.hpp"

namespace conformance {

using weft::tests::bytes;
using weft::tests::expect;
using weft::tests::pattern;

/// Bytes of each context for loans: few, so that tests come to their end.
inline constexpr std::size_t loan_budget = std::size_t{16} << 20;

/// The place of the two ends.
enum class place {
  same_context,   ///< one context talks to itself, by `self`
  same_process,   ///< two contexts, with a thread each
  two_processes,  ///< the second one forked
};

/// One entry of the list of settings for every test.
struct setting {
  const char* name;
  place where;
  weft::progress_mode progress = weft::progress_mode::dedicated;
  const char* wait_set = "auto";
  const char* large = "auto";
  const char* transport = "shm";  ///< besides `self`; `fake` works within one process
  unsigned tcp_links = 1;
  weft::ring_read_policy reading = weft::ring_read_policy::burst;
  weft::rendezvous_scheme rendezvous = weft::rendezvous_scheme::automatic;
  weft::copy_completion qdma_copy_completion = weft::copy_completion::direct;
  weft::chained_fin chained = weft::chained_fin::automatic;
  weft::eager_operation verbs_eager = weft::eager_operation::send;
  weft::tcp_encryption encryption = weft::tcp_encryption::automatic;
  std::optional<std::size_t> shm_limit = {};

  weft::context make_context() const;
};
std::ostream& operator<<(std::ostream& out, const setting& s);

/// Repeats the calling test case for each setting.
setting every_setting();

/// One end's part: a plain function, because the two may run in different processes.
using part = weft::task<void> (*)(weft::context& here, weft::endpoint other);

/// Runs both parts to their end, connected to each other. \throws the exception of either
void converse(const setting& how, part left, part right);

/// The error with which `x` failed; ok if it did not.
template <class X>
weft::task<weft::errc> outcome(X x) {
  const auto r = co_await weft::as_result(std::move(x));
  co_return r.code();
}

}  // namespace conformance

/// A test case of two parts, in every setting. Catch needs a macro to name it.
#define CONFORMS(what, left, right)                  \
  TEST_CASE("conformance: " what) {                  \
    const setting how = every_setting();             \
    CAPTURE(how);                                    \
    CHECK_NOTHROW(converse(how, &(left), &(right))); \
  }
