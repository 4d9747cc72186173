// SPDX-License-Identifier: Apache-2.0
// The costs follow Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations
// in MPICH (2005).
#include "collectives/select.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace weft::collectives {

namespace {

constexpr std::array<std::string_view, kinds> kind_names{"barrier",    "broadcast",  "reduce",
                                                         "all_reduce", "gather",     "scatter",
                                                         "all_gather", "all_to_all", "scan"};
constexpr std::array<std::string_view, algorithms> algorithm_names{
    "dissemination",      "binomial",     "chain", "scatter, all_gather",
    "recursive doubling", "Rabenseifner", "ring",  "Bruck",
    "pairwise",           "linear"};

constexpr std::size_t most_candidates = 4;
struct list {
  std::array<candidate, most_candidates> items{};
  std::size_t count = 0;
  void add(algorithm how, double microseconds) { items[count++] = {how, microseconds}; }
};

// Longer messages have a handshake.
constexpr double short_message = 64 * 1024;

/// The numbers of the cost formulas.
struct terms {
  double n, log_n, a, b, c, m;  // ranks, steps, latency, per byte, reduction per byte, bytes
  double handshake;

  double message(double bytes) const noexcept {
    return a + (bytes > short_message ? handshake : 0) + bytes * b;
  }
};

void reductions(list& l, const terms& t, const collective_size& c, double extra_steps) {
  const double part = (t.n - 1) / t.n * t.m;
  l.add(algorithm::recursive_doubling, (t.log_n + extra_steps) * (t.a + t.m * t.b + t.m * t.c));
  if (!c.commutative || c.bytes < 8 * static_cast<std::size_t>(t.n)) return;
  l.add(algorithm::rabenseifner, 2 * t.log_n * t.a + 2 * part * t.b + part * t.c +
                                     extra_steps * (t.a + t.m * t.b + t.m * t.c));
  l.add(algorithm::ring, 2 * (t.n - 1) * t.a + 2 * part * t.b + part * t.c);
}

void broadcasts(list& l, const terms& t, const collective_size& c, const group_shape& g) {
  l.add(algorithm::binomial, t.log_n * t.message(t.m));
  if (t.n < 3) return;
  const double segments =
      std::max(1.0, std::ceil(t.m / static_cast<double>(chain_segment(c.bytes, g))));
  l.add(algorithm::chain, (segments + t.n - 2) * t.message(t.m / segments));
  if (t.m >= t.n)
    l.add(algorithm::scatter_all_gather, t.log_n * (t.message(t.m / 2) - t.m / 2 * t.b) +
                                             (t.n - 1) / t.n * t.m * t.b +
                                             (t.n - 1) * t.message(t.m / t.n));
}

list all(const collective_size& c, const group_shape& g) {
  const cost_model cost = model_of(g);
  const auto n = static_cast<double>(g.ranks);
  const double log_n = std::bit_width(std::max<peer_id>(2, g.ranks) - 1);  // rounded up
  const terms t{n,
                log_n,
                cost.latency,
                cost.per_byte,
                cost.reduced_byte,
                static_cast<double>(c.bytes),
                cost.handshake};
  const double folding = std::has_single_bit(g.ranks) ? 0 : 2;
  list l;
  switch (c.what) {
    case kind::barrier:
      l.add(algorithm::dissemination, log_n * t.a);
      break;
    case kind::broadcast:
      broadcasts(l, t, c, g);
      break;
    case kind::reduce:
      l.add(algorithm::binomial, log_n * (t.a + t.m * (t.b + t.c)));
      if (c.commutative && c.bytes >= 8 * g.ranks)
        l.add(algorithm::ring, 2 * (n - 1) * t.a + (n - 1) / n * t.m * (2 * t.b + t.c));
      break;
    case kind::all_reduce:
      reductions(l, t, c, folding);
      break;
    case kind::gather:
    case kind::scatter:
      l.add(algorithm::binomial, log_n * t.a + (n - 1) * t.m * t.b * 1.5);
      l.add(algorithm::linear, (n - 1) * (t.a / 4 + t.m * t.b) + t.a);
      break;
    case kind::all_gather:
      l.add(algorithm::bruck, log_n * t.a + (n - 1) * t.m * t.b * 1.5);
      l.add(algorithm::ring, (n - 1) * (t.a + t.m * t.b));
      break;
    case kind::all_to_all:
      l.add(algorithm::pairwise, (n - 1) * (t.a + t.m * t.b));
      if (g.ranks > 2) l.add(algorithm::bruck, log_n * (t.a + n / 2 * t.m * t.b * 2));
      break;
    case kind::scan:
      l.add(algorithm::recursive_doubling, log_n * (t.a + t.m * (t.b + t.c)));
      break;
  }
  return l;
}

bool cheaper(const candidate& x, const candidate& y) { return x.microseconds < y.microseconds; }

}  // namespace

std::string_view name_of(kind k) noexcept { return kind_names[static_cast<std::size_t>(k)]; }
std::string_view name_of(algorithm a) noexcept {
  return algorithm_names[static_cast<std::size_t>(a)];
}

bool find_kind(std::string_view name, kind& found) noexcept {
  const auto at = std::find(kind_names.begin(), kind_names.end(), name);
  if (at == kind_names.end()) return false;
  found = static_cast<kind>(at - kind_names.begin());
  return true;
}

/// The handshake on one host is that of crowded cores: with it, the order of the algorithms of a
/// broadcast of 1 MiB is the one measured with 4 and with 8 ranks on two cores.
cost_model model_of(const group_shape& g) noexcept {
  return g.one_host ? cost_model{0.4, 40.0, 1.0 / 8'000, 1.0 / 6'000}
                    : cost_model{15.0, 30.0, 1.0 / 1'500, 1.0 / 6'000};
}

std::vector<candidate> candidates(const collective_size& c, const group_shape& g) {
  const list l = all(c, g);
  std::vector<candidate> sorted(l.items.begin(), l.items.begin() + l.count);
  std::stable_sort(sorted.begin(), sorted.end(), cheaper);
  return sorted;
}

algorithm choose(const collective_size& c, const group_shape& g) noexcept {
  const list l = all(c, g);
  return std::min_element(l.items.begin(), l.items.begin() + l.count, cheaper)->how;
}

/// The optimum of (s + n - 2) (a + m/s b) is s = sqrt(m b (n - 2) / a), where `a` includes the
/// handshake: a segment is no smaller than what is worth one.
std::size_t chain_segment(std::size_t bytes, const group_shape& g) noexcept {
  constexpr std::size_t smallest = 128 * 1024;
  const cost_model cost = model_of(g);
  const double m = static_cast<double>(bytes);
  const double segments =
      std::sqrt(m * cost.per_byte * std::max(1.0, static_cast<double>(g.ranks) - 2) /
                (cost.latency + cost.handshake));
  const auto size = static_cast<std::size_t>(m / std::max(1.0, segments));
  return std::max(smallest, (size + 4095) / 4096 * 4096);
}

}  // namespace weft::collectives
