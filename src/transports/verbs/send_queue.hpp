// SPDX-License-Identifier: Apache-2.0
// The sending half of a queue pair: posted work that is not known to be done.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "transports/verbs/memory.hpp"
#include "transports/verbs/regions.hpp"

namespace weft::transports::verbs {

/// Posts frames and keeps the slots that they leave from until the device reports them done. Only
/// some of the work is signalled: work of one queue ends in order. Owned by a pair; progress lock
/// held only.
///
/// As long as more than half of the pool is free, a queue that posts no more may keep
/// `slots_unsaid` slots without a signalled work behind them. From then on every work that takes a
/// slot is signalled, so that a sender that waits for a slot gets one.
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
  /// Where to write the frame; only if there is room, and `post` follows.
  std::byte* begin(std::size_t bytes) noexcept;
  /// \param read immediate data
  /// \param into where in the peer's memory it is written; nothing: it is sent
  /// \return 0 or an errno: the queue pair has broken
  int post(std::size_t bytes, std::uint32_t read, std::optional<named_place> into) noexcept;

  /// How many works could be posted now.
  std::uint32_t places() const noexcept { return depth - (posted_ - done_); }
  /// Posts a read or a write, only if there is a place; the caller looks after its memory.
  /// \param say whether the work is signalled
  /// \return as above
  int post(ibv_send_wr& work, bool say) noexcept {
    return post(work, no_slot, say || silent_ + 1 >= unsaid);
  }
  /// The place of the work that was posted last.
  std::uint32_t last() const noexcept { return posted_ - 1; }

  /// Makes sure that the end of all posted work is signalled. \return whether it will be
  bool mark() noexcept { return silent_ == 0 ? !all_done() : mark_anew(); }
  /// The same, also if the last work is signalled already: for a queue pair that was broken since.
  bool mark_anew() noexcept;
  /// The work of that place, and all before it, is done.
  void done(std::uint32_t place) noexcept;
  bool all_done() const noexcept { return posted_ == done_; }

  /// The queue pair goes; its slots go back to the pool.
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
  std::uint32_t silent_ = 0;             // posted since the last signalled one
  std::uint32_t silent_slots_ = 0;       // slots among them
  std::uint32_t begun_ = no_slot;        // of the frame that is being written
  std::array<std::uint32_t, depth> slot_of_{};
  alignas(64) std::byte scratch_[256];
};

}  // namespace weft::transports::verbs
