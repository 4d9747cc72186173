// SPDX-License-Identifier: Apache-2.0
#include "scale/bounds.hpp"

#include <algorithm>
#include <cmath>

namespace scale {

namespace {

double parts(double whole, double each) { return std::max(1.0, std::ceil(whole / each)); }

/// Doublings of the ranks that know: first from rack to rack, at last from core to core.
double tree(const network& net, double ranks) {
  double sum = 0, units = 1;  // those that know already
  for (const level l : {level::rack, level::host, level::socket, level::core}) {
    const double all = parts(ranks, net.within(l));
    const double steps = std::ceil(std::log2(all / units));
    sum += std::max(0.0, steps) * (net.cost(l).latency + 2 * net.cost(l).overhead);
    units = std::max(units, all);
  }
  return sum;
}

/// Bytes that have to come: to each rank, and into each host from others.
struct least_bytes {
  double rank = 0, host = 0;
};

least_bytes bytes_of(const work& w, double n, double per_host) {
  const auto m = static_cast<double>(w.bytes);
  const double p = std::min(n, per_host), hosts = parts(n, per_host);
  switch (w.what) {
    case kind::broadcast:
      return {m, hosts > 1 ? m : 0};
    case kind::all_reduce:
      return {2 * m * (n - 1) / n, 2 * m * (hosts - 1) / hosts};
    case kind::all_gather:
      return {(n - 1) * m, (n - p) * m};
    case kind::all_to_all:
      return {(n - 1) * m, p * (n - p) * m};
    default:
      return {};
  }
}

}  // namespace

lower_bound bound_of(const work& w, const network& net, peer_id ranks) {
  const double n = ranks;
  const double p = std::min(n, static_cast<double>(net.places.per_host()));
  const least_bytes b = bytes_of(w, n, p);
  // What a rank gets comes by its own port, or by its part of the host's.
  const double inside = 1 / net.cost(level::core).per_byte;
  const double outside = p < n ? 1 / net.cost(level::host).per_byte / p : 0;
  lower_bound least;
  least.latency = tree(net, n);
  least.bandwidth = std::max(b.rank / (inside + outside), b.host * net.cost(level::host).per_byte);
  if (w.what == kind::all_reduce)
    least.bandwidth =
        std::max(least.bandwidth, (n - 1) / n * static_cast<double>(w.bytes) * net.reduced_byte);
  return least;
}

}  // namespace scale
