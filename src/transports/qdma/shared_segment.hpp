// SPDX-License-Identifier: Apache-2.0
// The memory that a context shows to all that meet it: its queues, its region directory, its arena.
#pragma once

#include <weft/transport/wireup_message.hpp>

#include "runtime/descriptors/memory_file.hpp"
#include "transports/qdma/regions.hpp"
#include "transports/qdma/wire.hpp"

namespace weft::transports::qdma {

/// The memory behind a card. Owned by a device or a transport; progress lock held only.
class shared_segment {
 public:
  /// \param arena_bytes address space for regions that it allocates
  /// \throws weft::error (system)
  explicit shared_segment(std::size_t arena_bytes);

  own_regions& regions() noexcept { return regions_; }
  const own_regions& regions() const noexcept { return regions_; }
  segment_memory& memory() noexcept { return *memory_; }
  queue_memory& queue(std::uint32_t i) noexcept { return memory_->queue[i]; }
  /// A word that differs from context to context.
  std::uint64_t probe_word() const noexcept { return probe_word_; }

  /// Makes a card: its body, and the descriptors of shared segment, region directory and arena.
  /// \param who the id in the card: of the context itself, or the one given to the receiver
  /// \throws weft::error when descriptors run out
  void add_card(wireup_message& p, vpid who, bool fences_for_itself) const;

 private:
  own_regions regions_;
  unique_fd file_;
  runtime::mapping mapping_;
  segment_memory* memory_;
  const std::uint64_t probe_word_;
};

/// Reads a card's body. \throws weft::error (protocol_error) when it is not of this version
device_address_body body_of_card(const wireup_message& p, std::size_t fds);

}  // namespace weft::transports::qdma
