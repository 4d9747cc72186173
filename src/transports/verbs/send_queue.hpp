// SPDX-License-Identifier: Apache-2.0
// The sending half of a queue pair: what was posted and is not known to be done.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "transports/verbs/memory.hpp"

namespace weft::transports::verbs {

/// Posts frames and keeps the slots that they leave from until the device says that it has done
/// with them, which it is asked to say now and then only: work of one queue ends in order. Owned by
/// a pair; progress lock held only.
///
/// As long as more than half of the pool is free, a queue that falls silent may keep
/// `slots_unsaid` slots that nothing will be said about. From then on all that take a slot are
/// said, so that whoever waits for one waits for something that comes.
class send_queue {
 public:
  /// \param pool  of the transport, outlives this
  /// \param pair  for completions: work_id::pair
  send_queue(std::unique_ptr<queue_pair> on, slots& pool, std::uint32_t pair) noexcept
      : on_(std::move(on)), pool_(pool), pair_(pair) {}
  ~send_queue() { shut(); }

  bool is_open() const noexcept { return on_ != nullptr; }
  queue_pair& on() const noexcept { return *on_; }

  /// Whether a frame of so many bytes could be posted now.
  bool has_room(std::size_t bytes) const noexcept {
    return posted_ - done_ != depth && (is_inline(bytes) || pool_.free() != 0);
  }
  /// Where to write it; only if there is room, and `post` follows.
  std::byte* begin(std::size_t bytes) noexcept;
  /// \param read immediate data
  /// \return 0 or an errno: the queue pair has broken
  int post(std::size_t bytes, std::uint32_t read) noexcept;

  /// How many works could be posted now.
  std::uint32_t places() const noexcept { return depth - (posted_ - done_); }
  /// Posts a read or a write, only if there is a place; its memory is the caller's concern.
  /// \param say whether the device says when it is done
  /// \return as above
  int post(ibv_send_wr& work, bool say) noexcept {
    return post(work, no_slot, say || silent_ + 1 >= unsaid);
  }
  /// The place of what was posted last.
  std::uint32_t last() const noexcept { return posted_ - 1; }

  /// Makes the device say when all that was posted is done. \return whether that will be said
  bool mark() noexcept { return silent_ == 0 ? !all_done() : mark_anew(); }
  /// The same, if that was said already, too: for a queue pair that was told to fail since.
  bool mark_anew() noexcept;
  /// The work of that place, and all before it, is done.
  void done(std::uint32_t place) noexcept;
  bool all_done() const noexcept { return posted_ == done_; }

  /// The queue pair goes; the memory is the pool's again.
  void shut() noexcept;

  static constexpr std::uint32_t depth = sizes{}.sends;

 private:
  static constexpr std::uint32_t unsaid = depth / 4;
  static constexpr std::uint32_t slots_unsaid = 8;
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};

  bool is_inline(std::size_t bytes) const noexcept {
    return bytes <= on_->inline_bytes() && bytes <= sizeof scratch_;
  }
  int post(ibv_send_wr& work, std::uint32_t slot, bool say) noexcept;

  std::unique_ptr<queue_pair> on_;
  slots& pool_;
  const std::uint32_t pair_;
  std::uint32_t posted_ = 0, done_ = 0;  // places, modulo 2^32
  std::uint32_t silent_ = 0;             // posted since the last one that will be said
  std::uint32_t silent_slots_ = 0;       // and slots among them
  std::uint32_t begun_ = no_slot;        // of the frame that is being written
  std::array<std::uint32_t, depth> slot_of_{};
  alignas(64) std::byte scratch_[256];
};

}  // namespace weft::transports::verbs
