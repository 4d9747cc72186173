// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/receive_queue.hpp"

#include <cstring>

namespace weft::transports::qdma {

// --- producers ---------------------------------------------------------------------------------

/// The slow path: reads how far the owner has come, and looks for a free position. Positions before
/// the tail are taken, unless a lying peer has moved it; the owner then passes them.
[[gnu::noinline]] std::optional<std::uint64_t> queue_writer::search() noexcept {
  known_head_ = progress_.head.load(std::memory_order_acquire);
  withheld_ = progress_.withheld.load(std::memory_order_relaxed) != 0;
  const std::uint64_t end = known_head_ + slot_count;
  const std::uint64_t tail = queue_.tail.load(std::memory_order_relaxed);
  if (tail == end) return {};
  for (std::uint64_t p = tail - known_head_ < slot_count ? tail : known_head_; p != end; ++p)
    if (!(withheld_ && p < progress_.usable_from[p % slot_count].load(std::memory_order_acquire)) &&
        take(p))
      return p;
  return {};
}

bool queue_writer::post(std::span<const std::byte> bytes) noexcept {
  const auto at = claim();
  if (!at) return false;
  if (!bytes.empty()) std::memcpy(room(*at, bytes.size()), bytes.data(), bytes.size());
  publish(*at, bytes.size());
  return true;
}

void queue_writer::wish_for_room() noexcept {
  wishes_ = true;
  queue_.wishes[index_of(me_) / 64].fetch_or(std::uint64_t{1} << index_of(me_) % 64);
  queue_.wish.store(1, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void queue_writer::drop_wish() noexcept {
  if (!wishes_) return;
  wishes_ = false;
  queue_.wishes[index_of(me_) / 64].fetch_and(~(std::uint64_t{1} << index_of(me_) % 64));
}

// --- the owner ---------------------------------------------------------------------------------

queue_reader::queue_reader(queue_memory& q, queue_progress& p)
    : queue_(q), progress_(p), over_until_(slot_count) {
  late_.reserve(slot_count);  // so that withholding a slot cannot fail
}

/// A message of an impossible size is passed over.
std::optional<queue_reader::view> queue_reader::view_at(std::uint64_t p) noexcept {
  const slot_head& s = queue_.heads[p % slot_count];
  const vpid from = s.from;
  const std::uint32_t size = s.size;
  // Other processes could change them during the check: use the copies, which they cannot change.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (size > slot_bytes) [[unlikely]] {
    ++put_right_;
    pass(p);
    return {};
  }
  if (size <= head_bytes) return view{from, {s.body, size}, s.body};
  // The body crosses while the header in the first line is looked at.
  const std::byte* const body = queue_.bodies[p % slot_count];
  __builtin_prefetch(body);
  return view{from, {body, size}, s.body};
}

/// As peek, where slots are withheld or were read out of their turn. Late messages come first:
/// their senders can have posted more since. So a late message is looked for after the next one was
/// seen.
std::optional<queue_reader::view> queue_reader::peek_with_care() noexcept {
  late_now_ = none;
  std::optional<view> next;
  // If all are withheld, there is no next position.
  for (unsigned left = late_.size() == slot_count ? 0 : slot_count; left != 0; --left) {
    if (!is_over(head_)) {
      if (!published(head_)) break;
      if (next = view_at(head_); next) break;
    }
    ++head_;
    ++unpublished_;
  }
  // Finds the first published one, searching from the last: if one is seen, those that its sender
  // had posted before are seen, too.
  for (std::size_t i = late_.size(); i-- != 0;)
    if (published(late_[i].position)) late_now_ = i;
  if (late_now_ == none) return next;
  if (const auto v = view_at(late_[late_now_].position)) return v;
  pop_late();
  return next;
}

void queue_reader::pop_late() noexcept {
  release(late_now_);
  late_now_ = none;
}

bool queue_reader::held_up() const noexcept {
  if (published(head_)) return false;
  const auto ahead = queue_.tail.load(std::memory_order_acquire) - head_;
  return (ahead != 0 && ahead <= slot_count) ||
         queue_.claims[head_ % slot_count].load(std::memory_order_acquire) >> 32 ==
             sequence_of(head_);
}

/// The slot's producer may still write there, so no other may have the slot until it has: producers
/// pass the slot over, and so does this side.
void queue_reader::withhold(vpid who) noexcept {
  progress_.usable_from[head_ % slot_count].store(~std::uint64_t{0}, std::memory_order_release);
  progress_.withheld.store(1, std::memory_order_relaxed);  // both before publish tells of the head
  late_.push_back({head_, who});
  careful_until_ = ~std::uint64_t{0};
  ++head_;
  ++unpublished_;
}

/// The slot can be used again, from a position on that no producer can have tried yet: producers go
/// as far as one turn beyond the head that they know.
void queue_reader::release(std::size_t late) noexcept {
  const std::uint64_t slot = late_[late].position % slot_count;
  const std::uint64_t first = head_ + slot_count;
  progress_.usable_from[slot].store(first + (slot - first) % slot_count, std::memory_order_release);
  late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(late));
  if (late_.empty()) careful_until_ = first + slot_count;
}

void queue_reader::look_after(const sender_table& who_lives, clock::time_point now) noexcept {
  constexpr auto between_looks = std::chrono::milliseconds(1);
  if (late_.empty() && !held_up()) return;
  if (held_up_at_ != head_) {
    held_up_at_ = head_;
    held_up_since_ = now;
  }
  if (now - looked_ < between_looks) return;
  looked_ = now;
  for (std::size_t i = late_.size(); i-- != 0;)
    if (!who_lives.lives(late_[i].who) && !published(late_[i].position)) release(i);
  if (now - held_up_since_ < between_looks || !held_up() || is_over(head_)) return;
  std::uint64_t seen = queue_.claims[head_ % slot_count].load(std::memory_order_acquire);
  const auto who = static_cast<vpid>(seen);
  if (seen >> 32 != sequence_of(head_)) {
    // A hole: the tail is beyond it, so a lying peer has moved the tail. This side takes the hole.
    if (queue_.claims[head_ % slot_count].compare_exchange_strong(seen, claim_of(head_, 0)))
      pass(head_);
    ++put_right_;
  } else if (!who_lives.lives(who)) {
    // The dead producer may have published before.
    if (published(head_)) return;
    pass(head_);
  } else if (now - held_up_since_ > patience) {
    withhold(who);
  }
}

}  // namespace weft::transports::qdma
