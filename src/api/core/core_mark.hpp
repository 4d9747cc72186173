// SPDX-License-Identifier: Apache-2.0
// By which a debugger finds a context.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <weft/build.hpp>
#include <weft/message.hpp>

namespace weft::detail {

/// A few words in each lane that a script for gdb looks for in the memory of a stopped process, or
/// of a core file: no symbol leads to a context, since there are no globals, and a stripped program
/// has no symbols. tools/gdb/weft.py knows these members by their offsets, since it has no type of
/// them before it has found one; all else it knows by the types of tools/gdb/types.cpp. Never read
/// here.
struct core_mark {
  /// \param of the lane that this is a member of
  /// \param its_size of the lane's type: types of another build do not fit
  core_mark(const void* of, std::size_t its_size, peer_id its_rank,
            std::uint32_t its_number) noexcept
      : lane(of), size(its_size), rank(its_rank), number(its_number), version(weft::version()) {}
  core_mark(const core_mark&) = delete;
  core_mark& operator=(const core_mark&) = delete;
  /// Freed memory is no context. Volatile, because no program would miss these stores.
  ~core_mark() {
    for (volatile char& c : word) c = 0;
  }

  std::array<char, 16> word{'w', 'e', 'f', 't', ' ', 'c', 'o', 'n',
                            't', 'e', 'x', 't', ' ', '0', '1'};
  const void* const lane;
  const std::uint64_t size;
  const std::uint32_t rank;
  const std::uint32_t number;
  const char* const version;
};
static_assert(sizeof(core_mark) == 48);

}  // namespace weft::detail
