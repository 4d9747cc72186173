// SPDX-License-Identifier: Apache-2.0
#include "scale/network.hpp"

namespace scale {

namespace {
constexpr std::array<std::string_view, levels> names{"core", "socket", "host", "rack"};
constexpr double gigabytes_a_second(double x) { return 1.0 / (x * 1'000); }
}  // namespace

std::string_view name_of(level l) noexcept { return names[static_cast<std::size_t>(l)]; }

level network::between(peer_id a, peer_id b) const noexcept {
  if (a / places.per_socket == b / places.per_socket) return level::core;
  if (a / places.per_host() == b / places.per_host()) return level::socket;
  return a / places.per_rack() == b / places.per_rack() ? level::host : level::rack;
}

weft::collectives::group_shape network::shape(
    peer_id ranks, const weft::collectives::forced_choices& forced) const noexcept {
  const peer_id per_host = places.per_host();
  const bool one_host = ranks <= per_host;
  return {ranks, one_host, forced, false, one_host ? ranks : ranks % per_host == 0 ? per_host : 0};
}

peer_id network::within(level l) const noexcept {
  switch (l) {
    case level::core:
      return 1;
    case level::socket:
      return places.per_socket;
    case level::host:
      return places.per_host();
    case level::rack:
      return places.per_rack();
  }
  return 1;
}

network network::rdma() noexcept {
  network n;
  n.costs = {{{0.10, 0.05, 0.02, gigabytes_a_second(8)},
              {0.30, 0.05, 0.02, gigabytes_a_second(6)},
              {0.80, 0.25, 0.01, gigabytes_a_second(12.5)},
              {1.20, 0.25, 0.01, gigabytes_a_second(12.5)}}};
  return n;
}

network network::tcp() noexcept {
  network n = rdma();
  n.costs[2] = {9.0, 3.0, 0.5, gigabytes_a_second(1.5)};
  n.costs[3] = {12.0, 3.0, 0.5, gigabytes_a_second(1.5)};
  return n;
}

}  // namespace scale
