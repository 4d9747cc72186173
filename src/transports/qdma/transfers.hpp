// SPDX-License-Identifier: Apache-2.0
// Copies between this process's memory and its peers' that take more than a moment.
#pragma once

#include <deque>

#include "transports/qdma/peer.hpp"
#include "transports/transport.hpp"

namespace weft::transports::qdma {

class queue_link;

/// One `get` or `put`, as far as it has come. A value; the pieces belong to the operation.
struct transfer {
  queue_link* of = nullptr;
  bool write = false;
  scatter into;              // of a get
  gather from;               // of a put
  std::uint64_t key = 0;     // of the peer's region
  std::uint64_t offset = 0;  // there
  std::size_t left = 0;      // bytes
  std::uint64_t cookie = 0;

  /// Copies the next slice, or what there is less. \return failed also when the region was taken
  ///   back meanwhile: what was read of it may be anything
  outcome go_on(peer& with) noexcept;
};

/// Those that are under way, of all links, in turns. Owned by the transport; baton held only.
class transfers {
 public:
  static constexpr std::size_t slice = 64 * 1024;  ///< bytes copied before others have their turn

  /// \return false: no memory for it
  bool add(const transfer& t) noexcept;
  bool empty() const noexcept { return all_.empty(); }

  /// A slice each for some. Tells the inlets of those that have ended.
  unsigned run() noexcept;

  /// Ends those of a link without a word.
  void end_all_of(const queue_link& l) noexcept;

 private:
  std::deque<transfer> all_;
};

}  // namespace weft::transports::qdma
