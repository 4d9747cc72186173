// SPDX-License-Identifier: Apache-2.0
// What two sides tell each other to connect their queue pairs.
#pragma once

#include <optional>
#include <string>

#include "transports/verbs/wire.hpp"

namespace weft::transports::verbs {

/// A random packet sequence number, for the first packet of a queue pair. \throws weft::error
/// (system)
std::uint32_t random_psn();

/// The queue pair addresses of both sides. Owned by a pair; progress lock held only.
class address_exchange {
 public:
  explicit address_exchange(const queue_pair_address& mine) noexcept : mine_(mine) {}

  const queue_pair_address& mine() const noexcept { return mine_; }
  /// Empty until `met`.
  const std::optional<queue_pair_address>& theirs() const noexcept { return theirs_; }

  /// This side's, as the contents of an offer or an answer. \throws std::bad_alloc
  wireup_message message() const;
  /// Reads the peer's. \return empty, or why this side cannot connect to it: it makes no sense,
  /// does not fit, or is another one than before
  std::string check(const wireup_message& from, queue_pair_address& there) const;
  void met(const queue_pair_address& there) noexcept { theirs_ = there; }

  /// Both, for people; only after `met`.
  std::string describe() const;

 private:
  const queue_pair_address mine_;
  std::optional<queue_pair_address> theirs_;
};

}  // namespace weft::transports::verbs
