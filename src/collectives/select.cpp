// SPDX-License-Identifier: Apache-2.0
// The costs follow Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations
// in MPICH (2005).
#include "collectives/select.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "collectives/algorithm.hpp"
#include "collectives/flags/flag_rounds.hpp"

namespace weft::collectives {

/// The handshake on one host is that of crowded cores: with it, the order of the algorithms of a
/// broadcast of 1 MiB is the one measured with 4 and with 8 ranks on two cores.
cost_model model_of(const group_shape& g) noexcept {
  return g.one_host ? cost_model{0.4, 40.0, 1.0 / 8'000, 1.0 / 6'000}
                    : cost_model{15.0, 30.0, 1.0 / 1'500, 1.0 / 6'000};
}

terms::terms(const collective_size& size, const group_shape& g) noexcept
    : n(g.ranks),
      log_n(std::bit_width(std::max<peer_id>(2, g.ranks) - 1)),
      m(static_cast<double>(size.bytes)),
      share((n - 1) / n * m),
      group(g) {
  const cost_model cost = model_of(g);
  a = cost.latency;
  b = cost.per_byte;
  c = cost.reduced_byte;
  handshake = cost.handshake;
  f = cost.slot_byte;
}

double terms::rounds(double bytes) const noexcept {
  return std::max(1.0, std::ceil(bytes / static_cast<double>(flag_rounds::long_slots.bytes)));
}

double terms::message(double bytes) const noexcept {
  constexpr double short_message = 64 * 1024;
  return a + (bytes > short_message ? handshake : 0) + bytes * b;
}

const char* unfit_for_parts(const collective_size& c, const group_shape&) {
  return c.bytes == of_parts ? "parts of different sizes" : nullptr;
}

std::vector<candidate> candidates(const collective_size& c, const group_shape& g) {
  const terms t(c, g);
  const auto asked = g.forced[static_cast<std::size_t>(c.what)];
  std::vector<candidate> all;
  for (const algorithm& one : table_of(c.what).algorithms)
    all.push_back({&one, one.cost(t), one.unfit(c, g), all.size() + 1 == asked});
  const auto rank = [](const candidate& x) { return x.unfit ? 2 : x.forced ? 0 : 1; };
  std::stable_sort(all.begin(), all.end(), [&](const candidate& x, const candidate& y) {
    return rank(x) != rank(y) ? rank(x) < rank(y) : x.microseconds < y.microseconds;
  });
  return all;
}

std::uint8_t choose(const collective_size& c, const group_shape& g) noexcept {
  const auto all = table_of(c.what).algorithms;
  const std::uint8_t asked = g.forced[static_cast<std::size_t>(c.what)];
  if (asked != 0 && !all[asked - 1u].unfit(c, g)) return static_cast<std::uint8_t>(asked - 1);
  const terms t(c, g);
  std::uint8_t best = 0;
  double least = all[0].cost(t);
  for (std::uint8_t i = 1; i != all.size(); ++i) {
    if (all[i].unfit(c, g)) continue;
    const double cost = all[i].cost(t);
    if (cost < least) least = cost, best = i;
  }
  return best;
}

}  // namespace weft::collectives
