// SPDX-License-Identifier: Apache-2.0
// Data of collectives whose results each rank can compute by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/expect.hpp"

namespace collective_data {

using weft::peer_id;
using numbers = std::vector<std::uint64_t>;

using weft::tests::expect;

/// The number at place i of rank r.
inline std::uint64_t number(peer_id r, std::size_t i) { return (r + 1) * 1'000'003u + i * 17u; }

template <class Make>
auto filled(std::size_t count, peer_id r, Make make) {
  std::vector<decltype(make(r, 0))> v(count);
  for (std::size_t i = 0; i != count; ++i) v[i] = make(r, i);
  return v;
}
/// The reduction of the ranks up to `last`.
template <class Make, class Op>
auto reduced(std::size_t count, peer_id last, Make make, Op op) {
  auto sum = filled(count, 0, make);
  for (peer_id r = 1; r <= last; ++r)
    for (std::size_t i = 0; i != count; ++i) sum[i] = op(sum[i], make(r, i));
  return sum;
}

}  // namespace collective_data
