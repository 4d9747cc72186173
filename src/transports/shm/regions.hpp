// SPDX-License-Identifier: Apache-2.0
// Memory of weft's own allocator: both sides see it, so one copy is enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/memory_file.hpp"
#include "transports/transport.hpp"

namespace weft::transports::shm {

/// This process's shared regions. Owned by the transport; baton held only.
class own_regions {
 public:
  /// \throws weft::error when memory or descriptors run out, or after 65535 regions
  std::span<std::byte> allocate(std::size_t size);
  void free(std::span<std::byte> memory) noexcept;

  /// The region that holds all of `data`.
  std::optional<remote_address> find(const_buffer data) const noexcept;

  /// A note that shows a region to a peer: its number, and its descriptor for reading only.
  /// \throws weft::error when descriptors run out
  parcel note_of(std::uint16_t number) const;

  /// Which regions live now, by number.
  std::vector<std::uint16_t> numbers() const;

  /// Counts up whenever a region comes.
  std::uint64_t generation() const noexcept { return next_; }

 private:
  struct region {
    std::uint16_t number;
    runtime::unique_fd file;
    runtime::mapping memory;
  };
  std::map<const std::byte*, region> by_address_;
  std::uint16_t next_ = 1;
};

/// The regions that a peer has shown. Baton held only.
class peer_regions {
 public:
  /// Of one peer, so that it cannot use up this process's mappings or address space.
  static constexpr std::size_t most_regions = 1024;
  static constexpr std::size_t most_bytes = std::size_t{1} << 40;

  /// Takes a note; one that makes no sense or is one too many is dropped (the peer will be asked
  /// for its data). A number that is known already is replaced.
  void learn(parcel note) noexcept;

  /// Where `size` bytes at `from` are mapped here; null: not shown, or out of its bounds.
  const std::byte* find(remote_address from, std::size_t size) const noexcept;

 private:
  std::map<std::uint16_t, runtime::mapping> mapped_;
  std::size_t bytes_ = 0;  // in all
};

}  // namespace weft::transports::shm
