// SPDX-License-Identifier: Apache-2.0
// A queue of 2 KB slots in shared memory: many producers, one owner.
//
// A producer takes a position by one compare-and-swap that also names the producer, so that the
// owner can recognize the slots of dead ones. It fills the slot and publishes it by writing its
// turn. The owner publishes now and then how far it has come, which is all the room there is. So a
// message costs its receiver one cache line, and its sender two that no other processor writes
// while it is the only sender. Model: tests/models/qdma_queue.pml.
// only one that sends. Model: tests/models/qdma_queue.pml.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "transports/qdma/wire.hpp"

namespace weft::transports::qdma {

/// Tells whether a producer can still be writing.
class sender_table {
 public:
  virtual bool lives(vpid v) const noexcept = 0;

 protected:
  ~sender_table() = default;
};

/// The side of one producer. Progress lock held only.
class queue_writer {
 public:
  /// \param me the id by which the owner knows this producer
  queue_writer(queue_memory& q, const queue_progress& p, vpid me) noexcept
      : queue_(q), progress_(p), me_(me) {}

  /// Takes a slot. \return its position; nothing: the queue is full
  std::optional<std::uint64_t> claim() noexcept {
    const std::uint64_t t = queue_.tail.load(std::memory_order_relaxed);
    if (t - known_head_ < slot_count && !withheld_ && take(t)) [[likely]]
      return t;
    return search();
  }

  /// Where the bytes of that slot's message go. \param size at most slot_bytes
  std::byte* room(std::uint64_t position, std::size_t size) noexcept {
    return size <= head_bytes ? queue_.heads[position % slot_count].body
                              : queue_.bodies[position % slot_count];
  }
  /// The bytes of that slot's first line, head_bytes of them. A frame has its header there also
  /// when its payload needs the body, so that the first line crosses with something in it.
  std::byte* first_line(std::uint64_t position) noexcept {
    return queue_.heads[position % slot_count].body;
  }

  /// Hands a taken and filled slot to the owner.
  void publish(std::uint64_t position, std::size_t size) noexcept {
    slot_head& s = queue_.heads[position % slot_count];
    s.from = me_;
    s.size = static_cast<std::uint32_t>(size);
    s.sequence.store(sequence_of(position), std::memory_order_release);
    last_ = position;
  }

  /// Claims, copies and publishes. \return false: the queue is full
  bool post(std::span<const std::byte> bytes) noexcept;

  /// The first line of the slot that the message after `ahead` others is likely to take.
  const slot_head* upcoming(std::uint64_t position, std::uint64_t ahead) const noexcept {
    return &queue_.heads[(position + ahead) % slot_count];
  }

  /// Whether the owner may not have read all that was posted.
  bool unconsumed() const noexcept {
    return last_ != nothing && progress_.head.load(std::memory_order_relaxed) <= last_;
  }

  /// Asks to be rung when there is room, until the wish is dropped. The caller tries once more
  /// afterwards: either it finds the room, or the owner, which fences after it has made room, finds
  /// the wish.
  void wish_for_room() noexcept;
  void drop_wish() noexcept;

  /// Whether another try may succeed, as far as one load or two can tell.
  bool may_have_room() const noexcept {
    return queue_.tail.load(std::memory_order_relaxed) !=
           progress_.head.load(std::memory_order_acquire) + slot_count;
  }

 private:
  static constexpr std::uint64_t nothing = ~std::uint64_t{0};

  bool take(std::uint64_t position) noexcept {
    std::atomic<std::uint64_t>& c = queue_.claims[position % slot_count];
    std::uint64_t seen = c.load(std::memory_order_relaxed);
    const auto ahead =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(seen >> 32) - sequence_of(position));
    if (ahead >= 0 ||
        !c.compare_exchange_strong(seen, claim_of(position, me_), std::memory_order_acq_rel))
      return false;
    queue_.tail.store(position + 1, std::memory_order_relaxed);
    return true;
  }
  std::optional<std::uint64_t> search() noexcept;

  queue_memory& queue_;
  const queue_progress& progress_;
  const vpid me_;
  std::uint64_t known_head_ = 0;  // the owner's published position, as last read
  std::uint64_t last_ = nothing;  // published
  bool withheld_ = false;
  bool wishes_ = false;
};

/// The owner's side. Takes messages out; every word is read once and checked. A lying peer loses
/// messages, or slots for as long as it lives, and the queue goes on. Progress lock held only.
class queue_reader {
 public:
  using clock = std::chrono::steady_clock;

  /// How long a producer may hold a slot that other messages wait behind.
  static constexpr auto patience = std::chrono::seconds(1);

  queue_reader(queue_memory& q, queue_progress& p);

  struct view {
    vpid from;
    std::span<const std::byte> bytes;  ///< other processes can write there: copy before use
    const std::byte* first_line;       ///< the same place, or that of a longer frame's header
  };
  /// The oldest message.
  std::optional<view> peek() noexcept {
    if (head_ >= careful_until_) [[likely]] {
      if (!published(head_)) return {};
      if (const auto v = view_at(head_)) return v;
    }
    return peek_with_care();
  }
  /// Frees the slot of the message that peek found.
  void pop() noexcept {
    if (late_now_ != none) [[unlikely]]
      return pop_late();
    ++head_;
    ++unpublished_;
  }

  /// Hands all published messages of one producer to `f`, past those of other producers.
  template <class F>
  void take_all_of(vpid who, F f) noexcept {
    for (std::uint64_t p = head_; p != head_ + slot_count; ++p)
      if (published(p) && !is_over(p))
        if (const auto v = view_at(p); v && v->from == who) {
          f(*v);
          pass(p);
        }
  }

  /// Whether a producer has taken the next slot and not filled it.
  bool held_up() const noexcept;
  /// Called now and then while the queue is held up: goes on without the slot, if its producer is
  /// dead or has had it for too long.
  void look_after(const sender_table& who_lives, clock::time_point now) noexcept;

  /// Positions before it are over, but for withheld ones.
  std::uint64_t head() const noexcept { return head_; }

  /// Slots that were read and that their producers were not told of.
  std::uint32_t unpublished() const noexcept { return unpublished_; }
  /// Makes room of the read slots. notify_writable then tells the waiting producers.
  void publish() noexcept {
    unpublished_ = 0;
    progress_.head.store(head_, std::memory_order_release);
  }

  /// Calls `ring` with the index of each producer that wants room.
  template <class Ring>
  void notify_writable(Ring ring) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // of publish; see wish_for_room
    if (queue_.wish.load(std::memory_order_relaxed) == 0) [[likely]]
      return;
    if (ring_wishes(ring)) return;
    queue_.wish.store(0, std::memory_order_relaxed);
    // A wish whose mark was just overwritten is found below.
    std::atomic_thread_fence(std::memory_order_seq_cst);  // or arm64 loads the wishes before
    if (ring_wishes(ring)) queue_.wish.store(1, std::memory_order_relaxed);
  }
  /// Whether a producer may want room.
  bool is_wished() const noexcept { return queue_.wish.load(std::memory_order_relaxed) != 0; }
  /// The producer with that index is gone.
  void forget_wish(vpid who) noexcept {
    queue_.wishes[index_of(who) / 64].fetch_and(~(std::uint64_t{1} << index_of(who) % 64));
  }

  std::uint64_t put_right() const noexcept { return put_right_; }  ///< words that made no sense

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  struct late_one {
    std::uint64_t position;
    vpid who;
  };

  template <class Ring>
  bool ring_wishes(Ring& ring) noexcept {
    bool any = false;
    for (std::uint32_t i = 0; i != words_of_wishes; ++i)
      for (std::uint64_t w = queue_.wishes[i].load(std::memory_order_relaxed); w != 0; w &= w - 1) {
        any = true;
        ring(i * 64 + static_cast<std::uint32_t>(__builtin_ctzll(w)));
      }
    return any;
  }
  bool published(std::uint64_t p) const noexcept {
    return queue_.heads[p % slot_count].sequence.load(std::memory_order_acquire) == sequence_of(p);
  }
  /// Read out of its turn, or withheld.
  bool is_over(std::uint64_t p) const noexcept {
    return p < over_until_[p % slot_count] ||
           p < progress_.usable_from[p % slot_count].load(std::memory_order_relaxed);
  }
  std::optional<view> view_at(std::uint64_t p) noexcept;
  std::optional<view> peek_with_care() noexcept;
  /// That position is over before its turn.
  void pass(std::uint64_t p) noexcept {
    over_until_[p % slot_count] = p + 1;
    if (careful_until_ <= p) careful_until_ = p + 1;
  }
  void pop_late() noexcept;
  void withhold(vpid who) noexcept;
  void release(std::size_t late) noexcept;

  queue_memory& queue_;
  queue_progress& progress_;
  std::uint64_t head_ = 0;
  std::uint32_t unpublished_ = 0;
  std::size_t late_now_ = none;  // which of late_ the last peek found
  std::vector<late_one> late_;   // withheld slots, in the order of their positions
  std::vector<std::uint64_t> over_until_;
  std::uint64_t careful_until_ = 0;  // positions before it may be over before their turn
  std::uint64_t put_right_ = 0;
  std::uint64_t held_up_at_ = ~std::uint64_t{0};  // position
  clock::time_point held_up_since_{};
  clock::time_point looked_{};
};

}  // namespace weft::transports::qdma
