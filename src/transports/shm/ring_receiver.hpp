// SPDX-License-Identifier: Apache-2.0
// The receiving end of a ring.
#pragma once

#include "runtime/descriptors/memory_file.hpp"
#include "runtime/sleep/doorbell.hpp"
#include "transports/shm/wire.hpp"

namespace weft::transports::shm {

/// Reads one ring and hands its frames to the peer's frame sink. Owned by the pair; progress lock
/// held only. The sender may write anything at any time: each field is read once, checked, and then
/// used.
class ring_receiver {
 public:
  /// \throws weft::error (protocol_error) when the memory is not a ring
  ring_receiver(runtime::mapping memory, frame_sink& to, runtime::remote_doorbell& sender);

  /// Delivers up to `budget` frames.
  unsigned poll(unsigned budget) noexcept {
    if (!ready()) [[likely]] {
      if (unpublished_ != 0 && ++vain_ > vain_until_publish) publish();
      return 0;
    }
    return deliver(budget);
  }

  /// Where the next frame appears. Valid until poll() delivers a frame, and while the receiver
  /// lives.
  class awaited_frame {
   public:
    awaited_frame(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept
        : word_(&word), value_(value) {}
    bool is_there() const noexcept { return word_->load(std::memory_order_acquire) == value_; }

   private:
    const std::atomic<std::uint32_t>* word_;
    std::uint32_t value_;
  };
  awaited_frame next() const noexcept {
    return {ring_->slots[position_ % slot_count].sequence, sequence_of(position_)};
  }
  bool ready() const noexcept { return next().is_there(); }

  /// Publishes how far this side has read, and rings the sender if it waits for that.
  void publish() noexcept;
  void publish_rest() noexcept {
    if (unpublished_ != 0) publish();
  }

  /// The sender waits for room: it has not found the published room yet, or went to compute before.
  bool room_wanted() const noexcept {
    return ring_->room_wanted.load(std::memory_order_relaxed) != 0;
  }
  /// Rings a sender that wants room; once for each time that it sleeps or computes.
  void notify_writable() noexcept;

  /// After a read of the sender's memory: whether its application may have got that memory back
  /// meanwhile.
  bool withdrawn() const noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);
    return ring_->withdrawn.load(std::memory_order_relaxed) != 0;
  }

  bool broken() const noexcept { return broken_; }

  shared_copy_receiver& share() noexcept { return share_; }

 private:
  static constexpr unsigned vain_until_publish = 8;
  static constexpr std::uint32_t publish_every = slot_count / 4;
  static constexpr std::uint64_t publish_every_bulk = bulk_bytes / 8;

  unsigned deliver(unsigned budget) noexcept;
  bool deliver_one(slot& s) noexcept;

  runtime::mapping memory_;
  ring* ring_;
  frame_sink& to_;
  runtime::remote_doorbell& sender_;
  std::uint64_t position_ = 0;       // the next slot to read
  std::uint64_t bulk_position_ = 0;  // where the next payload may begin
  std::uint64_t published_bulk_ = 0;
  std::uint32_t unpublished_ = 0;  // slots read since the last publish
  unsigned vain_ = 0;
  bool broken_ = false;
  shared_copy_receiver share_;  // last: the members above are read for each frame
};

}  // namespace weft::transports::shm
