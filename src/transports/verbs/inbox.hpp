// SPDX-License-Identifier: Apache-2.0
// Frames that are written into memory of their receiver in place of being sent, for experiments:
// WEFT_VERBS_EAGER=write, docs/adr/0045-written-frames.md.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "transports/verbs/memory.hpp"
#include "transports/verbs/regions.hpp"
#include "transports/verbs/wire.hpp"

namespace weft::transports::verbs {

/// The memory into which one peer writes its frames; by default there is none, and frames are sent
/// to this side. Part of a pair; outlives its queue pair. Progress lock held only.
class inbox {
 public:
  inbox() = default;
  /// \throws weft::error when memory, or the right to lock it, runs out
  explicit inbox(device& d) : slots_(std::in_place, d, window, slab::used_by::the_peer) {}

  // For the offer:
  std::uint32_t bytes() const noexcept { return slots_ ? inbox_bytes : 0; }
  std::uint32_t key() const noexcept { return slots_ ? slots_->registered().remote_key() : 0; }

  /// Where the peer has written the n-th frame that counts; null: it may not write frames.
  const std::byte* frame(std::uint32_t n) const noexcept {
    return slots_ ? slots_->at(n % window) : nullptr;
  }

 private:
  std::optional<slab> slots_;
};

/// Where the peer wants the n-th frame that counts; nothing: it is sent. The slot is free: with a
/// frame in it that was not read, the window is exhausted.
/// \param theirs the peer's offer
inline std::optional<named_place> place_in_inbox(const queue_pair_address& theirs,
                                                 std::uint32_t n) noexcept {
  if (theirs.inbox == 0) return {};
  return named_place{theirs.inbox_key, n % window * slot_stride};
}

}  // namespace weft::transports::verbs
