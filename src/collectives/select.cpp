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

namespace {

/// The handshake is that of crowded cores: with it, the order of the algorithms of a broadcast of
/// 1 MiB is the one measured with 4 and with 8 ranks on two cores.
constexpr message_costs inside_host{0.4, 40.0, 1.0 / 8'000};
constexpr message_costs between_hosts{15.0, 30.0, 1.0 / 1'500};

/// How much longer a byte takes where all ranks of a host copy at once: measured with 2 ranks, and
/// with 8 on 16 cores. Larger machines have more memory channels.
double share_of_memory(peer_id ranks) noexcept {
  return (std::clamp<peer_id>(ranks, 2, 8) + 4.0) / 6;
}

double doublings(peer_id ranks) noexcept { return std::bit_width(std::max<peer_id>(2, ranks) - 1); }

}  // namespace

message_costs costs_of(const group_shape& g) noexcept {
  message_costs c = g.one_host ? inside_host : between_hosts;
  c.per_byte *= g.one_host ? share_of_memory(g.ranks) : g.at_port;
  return c;
}

terms::terms(const collective_size& size, const group_shape& g) noexcept
    : n(g.ranks),
      log_n(doublings(g.ranks)),
      m(static_cast<double>(size.bytes)),
      share((n - 1) / n * m),
      element(size.element),
      commutative(size.commutative),
      group(g),
      far(costs_of(g)) {
  a = far.latency;
  b = far.per_byte;
  c = reduced_byte;
  f = slot_byte;
  if (g.has_levels()) {
    far_steps = std::min(log_n, doublings(g.hosts()));
    crowd = g.per_host;
  } else {
    far_steps = log_n;
  }
}

double terms::tree(double bytes) const noexcept {
  return far_steps * far.message(bytes) + (log_n - far_steps) * inside_host.message(bytes);
}

double terms::exchanges(double bytes) const noexcept {
  return tree(bytes) + far_steps * (crowd - 1) * bytes * b;
}

double terms::halves(double bytes) const noexcept {
  double sum = 0;
  for (double k = 1; k <= log_n; ++k) {
    bytes /= 2;
    sum += k > log_n - far_steps ? far.message(bytes) + (crowd - 1) * bytes * b
                                 : inside_host.message(bytes);
  }
  return sum;
}

double terms::rounds(double bytes) const noexcept {
  return std::max(1.0, std::ceil(bytes / static_cast<double>(flag_rounds::long_slots.bytes)));
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
