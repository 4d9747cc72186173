// SPDX-License-Identifier: Apache-2.0
// Settings of the protocols.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <weft/rendezvous.hpp>
#include <weft/transport/transport.hpp>

#include "proto/support/secret.hpp"

namespace weft::proto {

/// Settings of the protocols. Sizes in bytes.
struct messenger_settings {
  std::size_t unexpected_budget = 0;
  std::optional<std::size_t> eager_limit;                             ///< empty: the transport's
  std::map<std::string, std::size_t, std::less<>> eager_limits = {};  ///< as options::eager_limits
  std::uint64_t hashed_tag_bits = ~std::uint64_t{0};  ///< as options::hashed_tag_bits
  rendezvous_scheme rendezvous = rendezvous_scheme::automatic;
  rendezvous_eager_data eager_data = rendezvous_eager_data::automatic;
  chained_fin chained = chained_fin::automatic;
  unsigned calls_at_once = 256;                  ///< as options::calls_at_once
  std::optional<std::size_t> fixed_credit = {};  ///< as options::experiments::fixed_credit
  std::chrono::nanoseconds stop_timeout = std::chrono::seconds(10);  ///< as options::stop_timeout
  std::optional<std::size_t> shm_limit = {};                         ///< as options::shm_limit
  /// Makes numbers that no peer can guess; a simulation has its own, so that a run can be repeated.
  std::function<std::uint64_t()> secret = secret_word;

  /// The eager limit over a transport. Eager messages go by the first link of several, so those
  /// that shall not go through memory need a handshake.
  std::size_t eager_limit_over(const transports::traits& t) const noexcept {
    const auto own = eager_limits.find(t.name);
    const std::size_t limit =
        own != eager_limits.end() ? own->second : eager_limit.value_or(t.eager_limit);
    const bool joined = shm_limit && t.shares_memory && t.links > 1;
    return joined ? std::min(limit, *shm_limit) : limit;
  }
};

}  // namespace weft::proto
