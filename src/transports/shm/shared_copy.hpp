// SPDX-License-Identifier: Apache-2.0
// A payload that both processes copy: the receiver reads some chunks out of the sender's memory,
// the sender writes others into the receiver's, each by the kernel (CMA).
//
//   RECEIVER                                 SENDER
//   open: from, to, size, next = 0
//   claim a chunk: next + 1; read it         claim a chunk: next + 1; write it; written + 1
//   ... until no chunk is left               ... in each pass
//   ended: all are read or written
//
// Neither side waits for the other's next chunk: a sender that computes takes none, and the
// receiver copies all. docs/adr/0027-shared-copy.md. Model: tests/models/shared_copy.pml. The code
// in every order: tests/interleave/shared_copy.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace weft::transports::shm {

/// In the ring of the payload's sender. One at a time for each direction of two processes. Both
/// sides check all that they read: the other may write anything.
struct shared_copy {
  // Written by the receiver while no chunk can be claimed.
  alignas(64) std::atomic<std::uint64_t> from;  ///< address in the sender
  std::atomic<std::uint64_t> to;                ///< address in the receiver
  std::atomic<std::uint64_t> size;              ///< bytes

  /// generation << 32 | the next chunk to copy. Both sides add 1 to claim a chunk.
  alignas(64) std::atomic<std::uint64_t> next;
  /// Written by the sender: generation << 32 | chunks that it has written, or `refused`.
  alignas(64) std::atomic<std::uint64_t> written;

  static constexpr std::uint32_t no_chunk = 0xffffffff;  ///< in `next`: nothing can be claimed
  static constexpr std::uint32_t refused = 0xffffffff;   ///< in `written`: the sender cannot write

  static constexpr std::uint64_t word(std::uint32_t generation, std::uint32_t n) noexcept {
    return std::uint64_t{generation} << 32 | n;
  }
  static constexpr std::uint32_t generation_of(std::uint64_t w) noexcept {
    return static_cast<std::uint32_t>(w >> 32);
  }
  static constexpr std::uint32_t number_of(std::uint64_t w) noexcept {
    return static_cast<std::uint32_t>(w);
  }

  // A chunk is large enough for a system call to be worth it, and small enough for both sides to
  // end at about the same time.
  static constexpr std::uint64_t smallest_chunk = 32 * 1024;
  static constexpr std::uint64_t largest_chunk = 256 * 1024;
  static constexpr std::uint64_t chunk_bytes(std::uint64_t size) noexcept {
    return std::clamp((size / 8 + 4096) / 4096 * 4096, smallest_chunk, largest_chunk);
  }
  static constexpr std::uint64_t chunks_of(std::uint64_t size) noexcept {
    return (size + chunk_bytes(size) - 1) / chunk_bytes(size);
  }
};

/// A part of the payload.
struct shared_chunk {
  std::uint64_t offset;
  std::uint64_t bytes;
};

/// The receiver's side of one shared_copy. Progress lock held only.
class shared_copy_receiver {
 public:
  explicit shared_copy_receiver(shared_copy& s) noexcept : shared_(s) {}

  bool is_open() const noexcept { return open_; }

  /// Offers a payload of at least two chunks. Not while one is open.
  void open(std::uint64_t from, std::uint64_t to, std::uint64_t size) noexcept;

  /// Claims a chunk for this side. \return nothing: all are claimed
  std::optional<shared_chunk> claim() noexcept;

  enum class progress : std::uint8_t {
    under_way,
    whole,  ///< every chunk was copied
    broken  ///< the sender cannot write, or has done what no correct sender does
  };
  /// How far it is. A chunk that `claim` returned counts as copied.
  progress now() const noexcept;

  /// No chunk can be claimed any more. The sender may still be writing a chunk that it has claimed:
  /// `is_writing` tells. \return false: the sender has done what no correct sender does
  bool close() noexcept;
  /// After close.
  bool is_writing() const noexcept;

 private:
  std::uint32_t written() const noexcept;

  shared_copy& shared_;
  bool open_ = false;
  std::uint32_t generation_ = 0;
  std::uint64_t size_ = 0;
  std::uint32_t chunks_ = 0;
  std::uint32_t claimed_ = 0;        // by this side
  std::uint32_t claimed_there_ = 0;  // by the sender, once the copy is closed
};

/// The sender's side of one shared_copy. Progress lock held only.
class shared_copy_sender {
 public:
  struct chunk {
    std::uint64_t from;
    std::uint64_t to;
    std::uint64_t bytes;
  };
  /// A payload that is offered.
  struct offer {
    std::uint64_t from;
    std::uint64_t to;
    std::uint64_t size;
    std::uint64_t next;  ///< the word that is to be replaced
  };

  explicit shared_copy_sender(shared_copy& s) noexcept : shared_(s) {}

  /// \return a payload with a chunk that can be claimed. Check whether it may be sent, then claim
  std::optional<offer> offered() const noexcept;
  /// Claims the next chunk. \return nothing: the receiver was faster, or has closed the copy
  std::optional<chunk> claim(const offer& o) noexcept;
  /// The claimed chunk is written. \param well false: it could not be
  void wrote(bool well) noexcept;

 private:
  shared_copy& shared_;
  std::uint32_t generation_ = 0;
  std::uint32_t written_ = 0;
};

inline void shared_copy_receiver::open(std::uint64_t from, std::uint64_t to,
                                       std::uint64_t size) noexcept {
  ++generation_;
  size_ = size;
  chunks_ = static_cast<std::uint32_t>(shared_copy::chunks_of(size));
  claimed_ = 0;
  open_ = true;
  // A sender that has read a new value here finds an old `next` replaced: so the order matters.
  shared_.from.store(from, std::memory_order_release);
  shared_.to.store(to, std::memory_order_release);
  shared_.size.store(size, std::memory_order_release);
  shared_.next.store(shared_copy::word(generation_, 0), std::memory_order_release);
}

inline std::optional<shared_chunk> shared_copy_receiver::claim() noexcept {
  std::uint64_t next = shared_.next.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint32_t n = shared_copy::number_of(next);
    if (shared_copy::generation_of(next) != generation_ || n >= chunks_ || claimed_ == chunks_)
      return {};
    if (!shared_.next.compare_exchange_weak(next, next + 1, std::memory_order_relaxed)) continue;
    ++claimed_;
    const std::uint64_t offset = n * shared_copy::chunk_bytes(size_);
    return shared_chunk{offset, std::min(shared_copy::chunk_bytes(size_), size_ - offset)};
  }
}

inline std::uint32_t shared_copy_receiver::written() const noexcept {
  const std::uint64_t w = shared_.written.load(std::memory_order_acquire);
  return shared_copy::generation_of(w) == generation_ ? shared_copy::number_of(w) : 0;
}

inline shared_copy_receiver::progress shared_copy_receiver::now() const noexcept {
  const std::uint32_t there = written();
  if (there == shared_copy::refused || there > chunks_ - claimed_) return progress::broken;
  if (there == chunks_ - claimed_) return progress::whole;
  // Every chunk that is claimed is copied some time, but a `next` that was overwritten never ends.
  const std::uint64_t next = shared_.next.load(std::memory_order_relaxed);
  const bool sane = shared_copy::generation_of(next) == generation_ &&
                    shared_copy::number_of(next) <= chunks_ &&
                    (shared_copy::number_of(next) == chunks_ || claimed_ != chunks_);
  return sane ? progress::under_way : progress::broken;
}

inline bool shared_copy_receiver::close() noexcept {
  open_ = false;
  const std::uint64_t next = shared_.next.exchange(
      shared_copy::word(generation_, shared_copy::no_chunk), std::memory_order_acq_rel);
  const std::uint32_t n = shared_copy::number_of(next);
  const bool sane =
      shared_copy::generation_of(next) == generation_ && n <= chunks_ && n >= claimed_;
  claimed_there_ = sane ? n - claimed_ : 0;
  return sane;
}

inline bool shared_copy_receiver::is_writing() const noexcept {
  const std::uint32_t there = written();
  return there != shared_copy::refused && there < claimed_there_;
}

inline std::optional<shared_copy_sender::offer> shared_copy_sender::offered() const noexcept {
  const std::uint64_t next = shared_.next.load(std::memory_order_acquire);
  const std::uint32_t n = shared_copy::number_of(next);
  if (n == shared_copy::no_chunk || next == 0) return {};
  const offer o{shared_.from.load(std::memory_order_acquire),
                shared_.to.load(std::memory_order_acquire),
                shared_.size.load(std::memory_order_acquire), next};
  if (o.size == 0 || n >= shared_copy::chunks_of(o.size)) return {};
  return o;
}

inline std::optional<shared_copy_sender::chunk> shared_copy_sender::claim(const offer& o) noexcept {
  std::uint64_t next = o.next;
  if (!shared_.next.compare_exchange_strong(next, next + 1, std::memory_order_acq_rel)) return {};
  const std::uint32_t generation = shared_copy::generation_of(o.next);
  if (std::exchange(generation_, generation) != generation) written_ = 0;
  const std::uint64_t bytes = shared_copy::chunk_bytes(o.size);
  const std::uint64_t offset = shared_copy::number_of(o.next) * bytes;
  return chunk{o.from + offset, o.to + offset, std::min(bytes, o.size - offset)};
}

inline void shared_copy_sender::wrote(bool well) noexcept {
  written_ = well ? written_ + 1 : shared_copy::refused;
  shared_.written.store(shared_copy::word(generation_, written_), std::memory_order_release);
}

}  // namespace weft::transports::shm
