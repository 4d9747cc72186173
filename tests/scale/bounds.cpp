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

/// Bytes that have to pass: the port of the busiest rank, and of its host.
struct least_bytes {
  double rank = 0, host = 0;
};

least_bytes bytes_of(const work& w, double n, double per_host) {
  const auto m = static_cast<double>(w.bytes);
  const double p = std::min(n, per_host), hosts = parts(n, per_host);
  switch (w.what) {
    case kind::broadcast:
    case kind::reduce:
      return {m, hosts > 1 ? m : 0};
    case kind::all_reduce:
      return {2 * m * (n - 1) / n, 2 * m * (hosts - 1) / hosts};
    case kind::all_gather:
    case kind::gather:
    case kind::scatter:
      return {(n - 1) * m, (n - p) * m};
    case kind::all_to_all:
      return {(n - 1) * m, p * (n - p) * m};
    case kind::scan:
      return {m, hosts > 1 ? m : 0};
    case kind::barrier:
      return {};
  }
  return {};
}

bool has_root(kind k) noexcept { return k == kind::gather || k == kind::scatter; }
bool reduces(kind k) noexcept {
  return k == kind::reduce || k == kind::all_reduce || k == kind::scan;
}
/// A rank can have its last byte, or give it, only after all others' first: in a broadcast a rank
/// has m bytes to get, and none of them comes before the tree has reached it. A reduction, and a
/// scan for its last rank, are the same backwards.
bool goes_through_tree(kind k) noexcept {
  return k == kind::broadcast || k == kind::reduce || k == kind::scan;
}

}  // namespace

lower_bound bound_of(const work& w, const network& net, peer_id ranks) {
  const double n = ranks;
  const double p = std::min(n, static_cast<double>(net.places.per_host()));
  const least_bytes b = bytes_of(w, n, p);
  const auto m = static_cast<double>(w.bytes);
  const message_cost &near = net.cost(level::core), &far = net.cost(level::host);
  const auto with_first = [](const message_cost& c, double microseconds) {
    return microseconds == 0 ? 0 : c.latency + 2 * c.overhead + microseconds;
  };
  // What a rank gets comes by its own port, and by that of the host: by its part of it, if all get
  // something.
  const double inside = 1 / near.per_byte, outside = p < n ? 1 / far.per_byte : 0;
  lower_bound least;
  least.latency = tree(net, n);
  least.bandwidth =
      std::max(with_first(near, b.rank / (inside + outside / (has_root(w.what) ? 1 : p))),
               with_first(far, b.host * far.per_byte));
  if (reduces(w.what))
    least.bandwidth =
        std::max(least.bandwidth, with_first(near, (n - 1) / n * m * net.reduced_byte));
  if (goes_through_tree(w.what)) least.both = least.latency + m / (inside + outside);
  return least;
}

}  // namespace scale
