// SPDX-License-Identifier: Apache-2.0
// The timers that wait, the earliest first.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <weft/coro/detail/timer.hpp>

namespace weft::detail {

/// A binary heap of timers; each knows its place, so that removing one costs O(log n). Owns none of
/// them. Not thread-safe: belongs to the engine's progress lock.
class timer_heap {
 public:
  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }

  /// Adds a timer that is not in a heap. \throws std::bad_alloc, and then it is not added
  void push(timer& t);

  /// Takes it out again. \return false if it is not in the heap
  bool remove(timer& t) noexcept;

  /// When the first one is due; nothing if there is none.
  std::optional<time_point> earliest() const noexcept {
    if (heap_.empty()) return std::nullopt;
    return heap_.front()->when;
  }

  /// Moves all that are due at `now` to `due`, in order of time, with status errc::ok.
  void pop_due(time_point now, operation_list& due) noexcept;

 private:
  void put(std::size_t place, timer& t) noexcept;
  void up(std::size_t place) noexcept;
  void down(std::size_t place) noexcept;

  std::vector<timer*> heap_;
};

}  // namespace weft::detail
