// SPDX-License-Identifier: Apache-2.0
// For scenarios of calls by flags: the memory of a segment, and the code that uses it. The scenario
// changes flag_segment so that its memory is lent, and its bells are quiet ones: a descriptor for
// each of many runs would take most of the time. Before all headers of weft.
#pragma once

#include "substitute.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runtime/descriptors/memory_file.hpp"
#include "runtime/descriptors/remote_wakeup.hpp"

namespace shared {

/// The segment of every run.
alignas(4096) inline std::byte memory[16 * 1024];

inline bool holds(const void* at) {
  const auto* const b = static_cast<const std::byte*>(at);
  return b >= memory && b < memory + sizeof memory;
}

constexpr std::size_t most_members = 2;
inline std::array<weft::runtime::wakeup_address, most_members> addresses{};  // of their bells
inline std::array<bool, most_members> rung{};

}  // namespace shared

namespace weft::std {
/// A copy from or into shared memory is one step, and a store may be delayed.
inline void* memcpy(void* to, const void* from, size_t n) noexcept {
  if (shared::holds(to))
    ::interleave::store(to, from, n);
  else if (shared::holds(from))
    ::interleave::load(from, to, n);
  else
    ::std::memcpy(to, from, n);
  return to;
}
}  // namespace weft::std

namespace weft::runtime {

inline mapping lent(const unique_fd&, std::size_t n) {
  interleave::expect(n <= sizeof shared::memory, "the segment is larger than its memory");
  return {shared::memory, 0};
}

/// Rings as a system call does, which is a fence.
struct quiet_bell {
  explicit quiet_bell(const weft::runtime::socket_folder&) {}
  void ring(const wakeup_address& to) noexcept {
    interleave::point_of_change();
    interleave::fence();
    for (std::size_t m = 0; m != shared::most_members; ++m)
      if (to.name == shared::addresses[m].name) shared::rung[m] = true;
    interleave::changed();
  }
};

}  // namespace weft::runtime

#include "collectives/flags/flag_rounds.cpp"
#include "collectives/flags/run_by_flags.cpp"
#include "runtime/flags/flag_segment.cpp"
#include "runtime/flags/flag_waits.cpp"
#include "runtime/sleep/doorbell.cpp"

namespace weft::runtime {
bool join_heavy_fences() noexcept { return true; }
void settle() noexcept {}
bool heavy_fence() noexcept {
  interleave::point();
  interleave::fence_all();
  return true;
}
}  // namespace weft::runtime

// Not called: calls of the scenario begin by flags.
namespace weft::collectives {
std::uint8_t choose(const collective_size&, const group_shape&) noexcept { return 0; }
const collective_table& table_of(kind) noexcept { std::abort(); }
proto::group_statement statement::packed(proto::statement_use use) const noexcept {
  return {use, 0, 0};
}
}  // namespace weft::collectives
