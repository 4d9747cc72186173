// SPDX-License-Identifier: Apache-2.0
#include "coro/timer_heap.hpp"

namespace weft::detail {

void timer_heap::push(timer& t) {
  heap_.push_back(&t);
  t.place = heap_.size() - 1;
  up(t.place);
}

bool timer_heap::remove(timer& t) noexcept {
  const std::size_t hole = t.place;
  if (hole == timer::not_waiting) return false;
  t.place = timer::not_waiting;
  timer* last = heap_.back();
  heap_.pop_back();
  if (last == &t) return true;
  // The last one may belong above or below the hole, which is in another branch.
  put(hole, *last);
  up(hole);
  down(last->place);
  return true;
}

void timer_heap::pop_due(time_point now, operation_list& due) noexcept {
  while (!heap_.empty() && heap_.front()->when <= now) {
    timer& first = *heap_.front();
    remove(first);
    first.status = errc::ok;
    due.push(first);
  }
}

void timer_heap::put(std::size_t place, timer& t) noexcept {
  heap_[place] = &t;
  t.place = place;
}

void timer_heap::up(std::size_t place) noexcept {
  timer& moving = *heap_[place];
  while (place > 0) {
    const std::size_t parent = (place - 1) / 2;
    if (heap_[parent]->when <= moving.when) break;
    put(place, *heap_[parent]);
    place = parent;
  }
  put(place, moving);
}

void timer_heap::down(std::size_t place) noexcept {
  timer& moving = *heap_[place];
  for (;;) {
    std::size_t child = 2 * place + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1]->when < heap_[child]->when) ++child;
    if (moving.when <= heap_[child]->when) break;
    put(place, *heap_[child]);
    place = child;
  }
  put(place, moving);
}

}  // namespace weft::detail
