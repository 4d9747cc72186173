// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/device/event_table.hpp"

#include <fmt/format.h>

namespace weft::transports::qdma {

namespace {

constexpr std::uint32_t most_events = 1u << 20;

std::uint64_t key_of(std::uint32_t generation, std::size_t index) noexcept {
  return std::uint64_t{generation} << 32 | (index + 1);
}

}  // namespace

counted_event* event_table::find(std::uint64_t key) noexcept {
  const std::uint64_t low = key & 0xffffffff;
  if (low == 0 || low > events_.size()) return nullptr;
  counted_event& e = events_[low - 1];
  return e.open && e.generation == key >> 32 ? &e : nullptr;
}

std::uint64_t event_table::make(std::uint64_t completions, bool repeat, std::uint64_t seed) {
  std::size_t index = events_.size();
  if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else {
    if (index == most_events)
      throw error(errc::out_of_memory,
                  fmt::format("a device has {} events; drop those that are not needed", index));
    free_.reserve(index + 1);  // so that dropping one cannot fail
    events_.emplace_back().generation = static_cast<std::uint32_t>(seed + index);
  }
  counted_event& e = events_[index];
  e.open = true;
  e.wanted = completions;
  e.again = repeat ? completions : 0;
  return key_of(e.generation, index);
}

void event_table::drop(std::uint64_t key) noexcept {
  counted_event* e = find(key);
  if (!e) return;
  const std::uint32_t next = e->generation + 1;
  *e = counted_event{};
  e->generation = next;
  free_.push_back(static_cast<std::uint32_t>((key & 0xffffffff) - 1));
}

}  // namespace weft::transports::qdma
