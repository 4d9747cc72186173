// SPDX-License-Identifier: Apache-2.0
// MPICH2's RDMA channel on plain shared memory, as figure 3 of the paper on it has the channel: a
// ring of bytes with a head and a tail that count all bytes so far.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace weft::bench {

/// One direction. The writer calls `put`, the reader `get`, each in its own process.
class memory_channel {
 public:
  /// The memory of a channel with a ring of that many bytes. A multiple of 64.
  static constexpr std::size_t bytes(std::size_t ring) { return sizeof(counts) + ring; }

  /// \param memory of both processes, zeroed before; `bytes(ring)`, a multiple of 64
  /// \param chunk  the head is written after so many bytes; 0: when all that fits is copied
  memory_channel(std::span<std::byte> memory, std::size_t chunk)
      : counts_(reinterpret_cast<counts*>(memory.data())),
        ring_(memory.subspan(sizeof(counts))),
        chunk_(chunk == 0 ? ring_.size() : chunk) {}

  /// \return how many bytes there was room for
  std::size_t put(std::span<const std::byte> data) {
    const std::size_t room = ring_.size() - (own_ - counts_->tail.load(std::memory_order_acquire));
    return cross(std::min(room, data.size()), counts_->head,
                 [&](std::size_t place, std::size_t at, std::size_t n) {
                   std::memcpy(ring_.data() + place, data.data() + at, n);
                 });
  }

  /// \return how many bytes had come
  std::size_t get(std::span<std::byte> into) {
    const std::size_t there = counts_->head.load(std::memory_order_acquire) - own_;
    return cross(std::min(there, into.size()), counts_->tail,
                 [&](std::size_t place, std::size_t at, std::size_t n) {
                   std::memcpy(into.data() + at, ring_.data() + place, n);
                 });
  }

 private:
  struct counts {
    alignas(64) std::atomic<std::uint64_t> head;  // bytes that were put in all
    alignas(64) std::atomic<std::uint64_t> tail;  // of these, got
  };

  template <class Copy>
  std::size_t cross(std::size_t all, std::atomic<std::uint64_t>& published, Copy copy) {
    for (std::size_t at = 0; at != all;) {
      const std::size_t place = own_ % ring_.size();
      const std::size_t n = std::min({all - at, chunk_, ring_.size() - place});
      copy(place, at, n);
      at += n;
      own_ += n;
      if (at == all || chunk_ != ring_.size()) published.store(own_, std::memory_order_release);
    }
    return all;
  }

  counts* counts_;
  std::span<std::byte> ring_;
  std::size_t chunk_;
  std::uint64_t own_ = 0;  // of this end: the head, or the tail
};

}  // namespace weft::bench
