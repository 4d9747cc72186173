// SPDX-License-Identifier: Apache-2.0
// The ids that a context has given to the processes that may send frames to it.
#pragma once

#include <sys/types.h>

#include <deque>
#include <vector>

#include "transports/qdma/receive_queue.hpp"

namespace weft::transports::qdma {

class pair;

/// Ids of senders, each an index and its generation, so that an outdated id names no sender. Given
/// by the owner of the queue, and, other than a device's ids, valid for that queue only: two
/// contexts that never share a table can exchange frames. Progress lock held only.
class senders final : public sender_table {
 public:
  /// \param pid from the kernel
  /// \throws weft::error (out_of_memory) when as many as a queue can tell apart are in use
  vpid add(pair& who, pid_t pid);
  /// The sender sends no more. Its index is given away again, but not soon.
  void remove(vpid v) noexcept;

  /// Null: no sender has that id now.
  pair* find(vpid v) const noexcept {
    const std::uint32_t i = index_of(v);
    return i < all_.size() && all_[i].id == v ? all_[i].who : nullptr;
  }
  /// The sender with that index.
  pair* at(std::uint32_t index) const noexcept {
    return index < all_.size() ? all_[index].who : nullptr;
  }

  /// A removed sender, too, may be in the middle of writing, as long as its process lives.
  bool lives(vpid v) const noexcept override;

 private:
  struct sender {
    vpid id = 0;
    pid_t pid = 0;
    std::uint64_t started = 0;  // in ticks since boot; 0: unknown to this process
    pair* who = nullptr;        // null: removed
  };
  std::vector<sender> all_;
  std::deque<std::uint32_t> free_;
};

}  // namespace weft::transports::qdma
