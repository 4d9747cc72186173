// SPDX-License-Identifier: Apache-2.0
// A device's events by their keys.
#pragma once

#include <deque>
#include <vector>

#include "transports/qdma/device/event.hpp"

namespace weft::transports::qdma {

/// Owned by the device; progress lock held only. An event stays where it is until it is dropped.
class event_table {
 public:
  /// \param completions after which it triggers \param repeat whether it is armed again then
  /// \param seed a number that earlier processes with this id did not have: their keys do not fit
  /// \return its key \throws weft::error (out_of_memory), std::bad_alloc
  std::uint64_t make(std::uint64_t completions, bool repeat, std::uint64_t seed);
  /// No operation waits for it.
  void drop(std::uint64_t key) noexcept;
  /// \return null: there is no such event, or not any more
  counted_event* find(std::uint64_t key) noexcept;

  /// Calls `f` with each event.
  template <class F>
  void for_each(F f) noexcept {
    for (counted_event& e : events_)
      if (e.open) f(e);
  }

 private:
  std::deque<counted_event> events_;
  std::vector<std::uint32_t> free_;
};

}  // namespace weft::transports::qdma
