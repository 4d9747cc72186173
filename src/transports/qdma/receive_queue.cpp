// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/receive_queue.hpp"

#include <cstring>
#include <utility>

namespace weft::transports::qdma {

namespace {

constexpr auto acquire = std::memory_order_acquire;
constexpr auto acq_rel = std::memory_order_acq_rel;

/// Helps the tail on; whoever comes first does it.
void move_on(queue_memory& q, std::uint64_t from) noexcept {
  q.tail.compare_exchange_strong(from, from + 1, acq_rel);
}

}  // namespace

std::optional<std::uint64_t> claim_slot(queue_memory& q, vpid me) noexcept {
  // Others may be quicker each time, but not in a ring that nobody empties.
  for (std::uint32_t tries = 4 * slot_count; tries != 0; --tries) {
    const std::uint64_t t = q.tail.load(acquire);
    slot& s = q.slots[t % slot_count];
    std::uint64_t seen = s.word.load(acquire);
    const slot_word w = slot_word::unpack(seen);
    const bool this_lap = w.lap == lap_of(t);
    if (w.state == slot_state::free && this_lap) {
      const slot_word mine{w.lap, slot_state::claimed, me};
      if (!s.word.compare_exchange_strong(seen, mine.packed(), acq_rel)) continue;
      move_on(q, t);
      return t;
    }
    if (w.state != slot_state::free && this_lap)
      move_on(q, t);
    else if (q.tail.load(acquire) == t)
      return {};
  }
  return {};
}

bool fill_slot(queue_memory& q, std::uint64_t position, vpid me,
               std::span<const std::byte> bytes) noexcept {
  slot& s = q.slots[position % slot_count];
  s.size = static_cast<std::uint32_t>(bytes.size());
  if (!bytes.empty()) std::memcpy(s.payload, bytes.data(), bytes.size());
  const std::uint32_t lap = lap_of(position);
  std::uint64_t mine = slot_word{lap, slot_state::claimed, me}.packed();
  if (s.word.compare_exchange_strong(mine, slot_word{lap, slot_state::full, me}.packed(), acq_rel))
    return true;
  // The owner has gone on without it, and may have passed it since; from now on nobody writes
  // there.
  std::uint64_t seen = s.word.load(acquire);
  for (slot_word w = slot_word::unpack(seen); w.state == slot_state::withheld && w.producer == me;
       w = slot_word::unpack(seen))
    if (s.word.compare_exchange_strong(seen, slot_word{w.lap, w.state, 0}.packed(), acq_rel)) break;
  return false;
}

bool is_unseen(const queue_memory& q, std::uint64_t position, vpid me) noexcept {
  return q.slots[position % slot_count].word.load(std::memory_order_relaxed) ==
         slot_word{lap_of(position), slot_state::full, me}.packed();
}

/// The exchange is a full fence: either the try that follows finds the room, or the owner, who
/// fences after it has made room, finds the wish.
bool want_room(queue_memory& q, vpid me) noexcept {
  for (std::atomic<vpid>& w : q.waiting) {
    vpid nobody = 0;
    if (w.compare_exchange_strong(nobody, me) || nobody == me) return true;
  }
  return false;
}

/// The slot at the head is free. Behind it the tail has not been helped on yet; beyond it nobody
/// can have moved it, since that takes a slot that is not free (the model asserts that). From the
/// head those that post find their way.
void queue_reader::put_tail_right(std::uint64_t seen) noexcept {
  std::uint64_t tail = queue_.tail.load(acquire);
  if (tail == head_ || at_head().word.load(acquire) != seen) return;
  const bool behind = head_ - tail <= slot_count;
  if (queue_.tail.compare_exchange_strong(tail, head_, acq_rel) && !behind) ++put_right_;
}

std::optional<queue_reader::view> queue_reader::peek() noexcept {
  for (std::uint32_t tries = slot_count; tries != 0; --tries) {
    slot& s = at_head();
    std::uint64_t seen = s.word.load(acquire);
    const slot_word w = slot_word::unpack(seen);
    if (w.lap != lap_of(head_) || (w.state == slot_state::free && w.producer != 0)) {
      ++put_right_;
      s.word.compare_exchange_strong(seen, slot_word{lap_of(head_), slot_state::free, 0}.packed(),
                                     acq_rel);
      return {};
    }
    if (w.state == slot_state::free) {
      put_tail_right(seen);
      return {};
    }
    if (w.state == slot_state::claimed) return {};
    if (w.state == slot_state::withheld) {
      // As a message that is not one. Those that post pass over it, and so does this, but not
      // before they have.
      if (queue_.tail.load(acquire) <= head_) return {};
      const auto then = w.producer == 0 ? slot_state::free : slot_state::withheld;
      const slot_word next{lap_of(head_ + slot_count), then, w.producer};
      if (s.word.compare_exchange_strong(seen, next.packed(), acq_rel)) ++head_;
      passed_withheld_ = true;
      continue;
    }
    const std::uint32_t size = s.size;
    if (size <= max_payload) return view{w.producer, {s.payload, size}};
    ++put_right_;
    pop();
  }
  return {};
}

void queue_reader::pop() noexcept {
  at_head().word.store(slot_word{lap_of(head_ + slot_count), slot_state::free, 0}.packed(),
                       std::memory_order_release);
  ++head_;
  freed_ = true;
}

bool queue_reader::held_up() const noexcept {
  const slot_word w = slot_word::unpack(at_head().word.load(acquire));
  return w.state == slot_state::claimed && w.lap == lap_of(head_);
}

/// Nobody will say that it has ended.
void queue_reader::give_back_of_the_dead(const table& who_lives) noexcept {
  for (slot& s : queue_.slots) {
    std::uint64_t seen = s.word.load(acquire);
    const slot_word w = slot_word::unpack(seen);
    if (w.state == slot_state::withheld && w.producer != 0 && !who_lives.lives(w.producer))
      s.word.compare_exchange_strong(seen, slot_word{w.lap, w.state, 0}.packed(), acq_rel);
  }
}

void queue_reader::look_after(const table& who_lives, clock::time_point now) noexcept {
  constexpr auto between_looks = std::chrono::milliseconds(1);
  if (std::exchange(passed_withheld_, false)) give_back_of_the_dead(who_lives);
  if (!held_up()) return;
  if (held_up_at_ != head_) {
    held_up_at_ = head_;
    held_up_since_ = looked_ = now;
    return;
  }
  if (now - looked_ < between_looks) return;
  looked_ = now;
  slot& s = at_head();
  std::uint64_t seen = s.word.load(acquire);
  const slot_word w = slot_word::unpack(seen);
  if (w.state != slot_state::claimed) return;
  if (!who_lives.lives(w.producer)) {
    if (s.word.compare_exchange_strong(
            seen, slot_word{lap_of(head_ + slot_count), slot_state::free, 0}.packed(), acq_rel)) {
      ++head_;
      freed_ = true;
    }
  } else if (now - held_up_since_ > patience) {
    s.word.compare_exchange_strong(
        seen, slot_word{w.lap, slot_state::withheld, w.producer}.packed(), acq_rel);
  }
}

}  // namespace weft::transports::qdma
