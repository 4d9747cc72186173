// SPDX-License-Identifier: Apache-2.0
// A queue of 2 KB slots in shared memory: many producers, one owner.
//
// A producer takes a slot by one compare-and-swap that also says who it is, so that the owner can
// tell what the dead have left. The slot's lap makes a producer that was asleep since it looked
// fail instead of writing into somebody else's turn. Model: tests/models/qdma_queue.pml.
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "transports/qdma/table.hpp"
#include "transports/qdma/wire.hpp"

namespace weft::transports::qdma {

// --- producers ---------------------------------------------------------------------------------

/// Takes a slot. \return its position; nothing: the queue is full
std::optional<std::uint64_t> claim_slot(queue_memory& q, vpid me) noexcept;

/// Fills and hands over a slot that was taken. \param bytes at most max_payload
/// \return false: the owner has withheld it meanwhile; nothing was posted
bool fill_slot(queue_memory& q, std::uint64_t position, vpid me,
               std::span<const std::byte> bytes) noexcept;

/// Whether the owner has not taken it yet.
bool is_unseen(const queue_memory& q, std::uint64_t position, vpid me) noexcept;

/// Asks to be rung when there is room, before one more try. \return false: too many have asked
bool want_room(queue_memory& q, vpid me) noexcept;

// --- the owner ---------------------------------------------------------------------------------

/// Takes messages out. Every word is read once, checked, and put right if it cannot be: a liar
/// loses messages, or a slot, and the queue goes on. Baton held only.
class queue_reader {
 public:
  using clock = std::chrono::steady_clock;

  /// How long a producer may have a slot that others wait behind.
  static constexpr auto patience = std::chrono::seconds(1);

  explicit queue_reader(queue_memory& q) noexcept : queue_(q) {}

  struct view {
    vpid from;
    std::span<const std::byte> bytes;  ///< others can write there: copy before use
  };
  /// The oldest message.
  std::optional<view> peek() noexcept;
  /// Frees the slot of the message that peek found.
  void pop() noexcept;

  /// Whether somebody has taken the next slot and not filled it.
  bool held_up() const noexcept;
  /// Then, now and then: frees the slot if that producer is dead, and goes on without it if it has
  /// lost patience.
  void look_after(const table& who_lives, clock::time_point now) noexcept;

  /// Calls `ring` for everybody who wants room, once, after slots were freed.
  template <class Ring>
  void tell_of_room(Ring ring) noexcept {
    if (!freed_) return;
    freed_ = false;
    std::atomic_thread_fence(std::memory_order_seq_cst);  // of pop; see want_room
    for (std::atomic<vpid>& w : queue_.waiting)
      if (w.load(std::memory_order_relaxed) != 0) ring(w.exchange(0));
  }

  std::uint64_t put_right() const noexcept { return put_right_; }  ///< words that made no sense

 private:
  void put_tail_right(std::uint64_t seen) noexcept;
  void give_back_of_the_dead(const table& who_lives) noexcept;
  slot& at_head() const noexcept { return queue_.slots[head_ % slot_count]; }

  queue_memory& queue_;
  std::uint64_t head_ = 0;
  std::uint64_t put_right_ = 0;
  std::uint64_t held_up_at_ = ~std::uint64_t{0};  // position
  clock::time_point held_up_since_{};
  clock::time_point looked_{};
  bool freed_ = false;
  bool passed_withheld_ = false;
};

}  // namespace weft::transports::qdma
