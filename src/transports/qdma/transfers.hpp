// SPDX-License-Identifier: Apache-2.0
// Copies between this process's memory and its peers' that are spread over several passes.
#pragma once

#include <deque>
#include <optional>

#include <weft/transport/transport.hpp>

#include "transports/qdma/completions.hpp"
#include "transports/qdma/peer.hpp"

namespace weft::transports::qdma {

class queue_link;

/// The rest of a `get` or `put`. A value; the pieces belong to the operation.
struct transfer {
  queue_link* of = nullptr;
  bool write = false;
  scatter into;              // of a get
  gather from;               // of a put
  std::uint64_t key = 0;     // of the peer's region
  std::uint64_t offset = 0;  // in that region
  std::size_t left = 0;      // bytes
  std::uint64_t cookie = 0;

  struct frame {
    frame_header header;
    frame_extension extension;
  };
  std::optional<frame> chained;  // leaves when all has been copied

  /// Copies the next slice, or the rest if that is less. \return failed also when the region was
  /// taken back meanwhile: the bytes that were read may be wrong
  outcome go_on(peer& with) noexcept;
};

/// The copies under way, of all links, in turns. Owned by the transport; progress lock held only.
class transfers {
 public:
  static constexpr std::size_t slice = 64 * 1024;  ///< bytes copied before others have their turn

  explicit transfers(completions& ends) : ends_(ends) {}

  /// \return false: no memory for it
  bool add(const transfer& t) noexcept;
  /// Chains a frame to the copy that was added last. \return false: that is another copy
  bool chain(const queue_link& of, std::uint64_t cookie, const transfer::frame& what) noexcept;
  /// Whether a copy could be done at once, without a later report of its end.
  bool none_before() const noexcept { return all_.empty() && ends_.direct(); }
  bool empty() const noexcept { return all_.empty(); }

  /// Copies a slice of each of some copies. Reports those that have ended.
  unsigned run() noexcept;

  /// Ends the copies of a link without telling.
  void end_all_of(const queue_link& l) noexcept;

 private:
  void end(const transfer& t, bool well) noexcept;

  completions& ends_;
  std::deque<transfer> all_;
};

}  // namespace weft::transports::qdma
