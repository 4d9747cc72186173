// SPDX-License-Identifier: Apache-2.0
// Copies out of peers' memory that take more than a moment.
#pragma once

#include <deque>

#include "transports/transport.hpp"

namespace weft::transports::shm {

class pair;

/// A `get`, as far as it has come. A value; the pieces belong to the operation.
struct transfer {
  pair* of = nullptr;
  scatter into;
  remote_address from;
  std::size_t left = 0;  // bytes
  std::uint64_t cookie = 0;
};

/// Those that are under way, of all peers, in turns: a pass copies one slice, whoever's it is, so
/// that messages, timers and posting calls have their turn. Owned by the transport; progress lock
/// held only.
class transfers {
 public:
  static constexpr std::size_t slice = 256 * 1024;  ///< bytes; some tens of microseconds

  bool empty() const noexcept { return all_.empty(); }
  /// \return false: no memory for it
  bool add(const transfer& t) noexcept;
  /// The next slice. \return events
  unsigned run() noexcept;
  /// Ends those from a peer without a word.
  void end_all_of(const pair& p) noexcept;

 private:
  std::deque<transfer> all_;
};

}  // namespace weft::transports::shm
