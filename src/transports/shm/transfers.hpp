// SPDX-License-Identifier: Apache-2.0
// Copies out of peers' memory that are spread over several passes.
#pragma once

#include <deque>

#include <weft/transport/transport.hpp>

namespace weft::transports::shm {

class pair;

/// The rest of a `get`. A value; the pieces belong to the operation.
struct transfer {
  pair* of = nullptr;
  scatter into;
  remote_address from;
  std::size_t left = 0;  // bytes
  std::uint64_t cookie = 0;
  bool shared = false;  // both sides copy it
};

/// The copies under way, of all peers, in turns: each pass copies one slice of one of them, so that
/// messages, timers and posting calls have their turn. Owned by the transport; progress lock held
/// only.
class transfers {
 public:
  static constexpr std::size_t slice = 256 * 1024;  ///< bytes; some tens of microseconds
  static constexpr std::size_t slice_when_crowded = 1024 * 1024;

  bool empty() const noexcept { return all_.empty(); }
  /// \return false: no memory for it
  bool add(const transfer& t) noexcept;
  /// Copies the next slice. \return events
  unsigned run() noexcept;
  /// Ends the copies from a peer without a call of its frame sink.
  void end_all_of(pair& p) noexcept;

 private:
  std::deque<transfer> all_;
};

}  // namespace weft::transports::shm
