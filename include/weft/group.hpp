// SPDX-License-Identifier: Apache-2.0
// group: the processes of a job, by rank.
#pragma once

#include <weft/context.hpp>

namespace weft {

/// The job's processes, numbered from 0. A handle; must not outlive its context.
class group {
 public:
  explicit group(context& owner) noexcept : owner_(&owner) {}

  peer_id rank() const noexcept;  ///< this process
  peer_id size() const noexcept;  ///< how many there are

  /// The process of that rank; this process itself is a peer like any other.
  /// \throws weft::error (invalid_argument) if rank >= size()
  endpoint operator[](peer_id rank) const;

  /// Receives from whoever sends a matching message first, as `context::recv`. Does not end when
  /// processes die; `endpoint::closed` tells that.
  detail::recv_request recv_any(mutable_buffer into, tag_mask t) const {
    return owner_->recv(into, t);
  }

  /// Ends when every process of the job has come here. Uses tags with the top byte 0xff.
  /// \throws weft::error (peer_lost) when one of them died
  task<void> barrier() const;

 private:
  context* owner_;
};

}  // namespace weft
