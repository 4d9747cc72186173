// SPDX-License-Identifier: Apache-2.0
// Which algorithm a collective uses: pure functions of what all members know.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <weft/message.hpp>

namespace weft::collectives {

/// What all members of a group know of it, and agree on.
struct group_shape {
  peer_id ranks = 1;
  bool one_host = true;  ///< all share memory
};

enum class kind : std::uint8_t {
  barrier,
  broadcast,
  reduce,
  all_reduce,
  gather,
  scatter,
  all_gather,
  all_to_all,
  scan
};

inline constexpr std::size_t kinds = 9, algorithms = 10;

enum class algorithm : std::uint8_t {
  dissemination,       ///< barrier: rank r signals r + 2^k in step k
  binomial,            ///< a tree of depth log2 n
  chain,               ///< r passes segments on to r + 1
  scatter_all_gather,  ///< a binomial scatter, then a ring (van de Geijn)
  recursive_doubling,  ///< exchanges with r xor 2^k
  rabenseifner,        ///< recursive halving of the data, then doubling
  ring,                ///< n - 1 steps with both neighbours
  bruck,               ///< log2 n steps with half of the data
  pairwise,            ///< n - 1 exchanges, each with another rank
  linear               ///< the root with every rank at once
};

std::string_view name_of(kind k) noexcept;
std::string_view name_of(algorithm a) noexcept;
/// \return false: there is no collective with this name
bool find_kind(std::string_view name, kind& found) noexcept;

/// The costs by which the choice is made, in microseconds: those of a message of no bytes, of the
/// handshake of a long one, of a byte that crosses, and of a byte that is reduced (latency, gap and
/// computation of LogGP; Alexandrov et al. 1995). Constants: members must agree without a message.
struct cost_model {
  double latency;
  double handshake;
  double per_byte;
  double reduced_byte;
};
cost_model model_of(const group_shape& g) noexcept;

/// What a collective does, as far as the choice depends on it.
struct collective_size {
  kind what;
  std::size_t bytes;        ///< of one rank's part
  bool commutative = true;  ///< of a reduction
};

struct candidate {
  algorithm how;
  double microseconds;
};

/// Every algorithm that can be used, with its cost; the first one is the choice, and the others
/// follow by cost. \throws std::bad_alloc
std::vector<candidate> candidates(const collective_size& c, const group_shape& g);
/// The choice, without a list.
algorithm choose(const collective_size& c, const group_shape& g) noexcept;

/// The segments of a pipelined chain: equal, up to the last one.
std::size_t chain_segment(std::size_t bytes, const group_shape& g) noexcept;

}  // namespace weft::collectives
