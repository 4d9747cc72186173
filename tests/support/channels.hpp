// SPDX-License-Identifier: Apache-2.0
// Both ends of an RDMA channel on the test's own thread, over anything.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <weft/error.hpp>
#include <weft/rdma_channel.hpp>

#include "support/catch.hpp"
#include "support/pattern.hpp"
#include "transports/channel/wire.hpp"

namespace channels {

using namespace weft;
namespace wire = transports::channel;
using rung = rdma_channel::rung;
using tests::bytes;
using tests::pattern;

inline constexpr rung all_rungs[] = {rung::basic, rung::piggyback, rung::pipelined, rung::read,
                                     rung::written};

inline void meet(rdma_channel& a, rdma_channel& b) {
  a.meet(b.card());
  b.meet(a.card());
}

/// One call: as much as `put` and `get` transfer at once.
inline std::size_t put(rdma_channel& to, const_buffer data) { return to.put({&data, 1}); }
inline std::size_t get(rdma_channel& from, mutable_buffer into) { return from.get({&into, 1}); }

/// All data goes in at one end and comes out at the other, in calls for at most so many bytes.
/// False: something must be wrong.
inline bool cross(rdma_channel& to, rdma_channel& from, const_buffer data, mutable_buffer into,
                  std::size_t put_at_once = ~std::size_t{0},
                  std::size_t got_at_once = ~std::size_t{0}) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!data.empty() || !into.empty()) {
    const std::size_t p = put(to, data.first(std::min(data.size(), put_at_once)));
    const std::size_t g = get(from, into.first(std::min(into.size(), got_at_once)));
    data = data.subspan(p);
    into = into.subspan(g);
    if (p + g != 0) continue;
    to.progress();
    from.progress();
    if (std::chrono::steady_clock::now() > until) return false;
  }
  return true;
}

/// So small that all positions wrap.
inline rdma_channel::settings small(rung step) {
  return {.step = step, .ring = 1024, .chunk = 256, .threshold = 2000};
}

/// \return the error of the call; ok: there was none
template <class Call>
errc end_of(Call call, std::string* what = nullptr) {
  try {
    call();
  } catch (const error& e) {
    if (what) *what = e.what();
    return e.kind();
  }
  return errc::ok;
}

}  // namespace channels
