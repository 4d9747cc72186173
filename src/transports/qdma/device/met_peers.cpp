// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/device/met_peers.hpp"

namespace weft::transports::qdma {

void met_peers::ring(std::uint32_t index) noexcept {
  for (auto& [v, p] : peers_)
    if (index_of(v) == index) p->ring();
}

void met_peers::wake() noexcept {
  for (auto& [v, p] : peers_)
    if (p->has_unconsumed()) p->wake_peer();
}

bool met_peers::has_unconsumed() const noexcept {
  return std::any_of(peers_.begin(), peers_.end(),
                     [](const auto& p) { return p.second->has_unconsumed(); });
}

std::uint64_t met_peers::bells_rung() const noexcept {
  std::uint64_t all = 0;
  for (const auto& [v, p] : peers_) all += p->bells_rung();
  return all;
}

std::size_t met_peers::without_cma() const noexcept {
  std::size_t without = 0;
  for (const auto& [v, p] : peers_) without += p->no_cma().empty() ? 0 : 1;
  return without;
}

}  // namespace weft::transports::qdma
