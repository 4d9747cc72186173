// SPDX-License-Identifier: Apache-2.0
// What a member calls: members of a group that make different calls get an error that names both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "collectives/select.hpp"
#include "proto/groups/group_table.hpp"

namespace weft::collectives {

/// One collective, as far as all members have to agree on it.
struct collective_call {
  kind what = kind::barrier;
  std::uint8_t how = 0;  ///< the algorithm's place in the table of its collective
  peer_id root = 0;
  std::uint64_t bytes = 0;      ///< of one rank's part; of_parts
  std::uint16_t operation = 0;  ///< detail::reduction::name, or that of a split

  friend bool operator==(const collective_call&, const collective_call&) = default;
};

/// In place of the number of a call.
inline constexpr std::uint64_t not_begun = ~std::uint64_t{0};

/// For the tag of the call's messages: different for calls of different kinds, or that differ only
/// in the root (modulo 512) or the algorithm, and for nearly all that differ only in the operation.
/// Others are equal once in 512 times; then the sizes of the messages show it. 0: a barrier.
std::uint64_t fingerprint(const collective_call& c) noexcept;

/// "broadcast of 600000 bytes from root 0"
std::string describe(const collective_call& c);
/// The name of its algorithm.
std::string_view algorithm_of(const collective_call& c) noexcept;

/// That a member has called something.
struct statement {
  peer_id rank = no_peer;      ///< in `asks` and `contradicts` it is not sent: that of the sender
  std::uint64_t sequence = 0;  ///< the number of its call; in `tells` and `lost` modulo 1024
  collective_call made = {};

  /// Of ranks below 2^23, numbers below 2^33, and as many bytes as a message may have.
  proto::group_statement packed(proto::statement_use use) const noexcept;
  /// A peer may send anything.
  static statement unpack(const proto::group_statement& words) noexcept;
};

}  // namespace weft::collectives
