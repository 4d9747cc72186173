// SPDX-License-Identifier: Apache-2.0
// libfabric's atomics on top of weft's two, which add to 8 bytes, or store them if they have the
// expected value. All other atomics read first, and then compare and swap until no other update
// comes in between. fi_atomic(3).
#pragma once

#include <rdma/fi_atomic.h>

#include <cstddef>
#include <cstdint>

namespace weft::ofi {

/// fi_atomic; fi_fetch_atomic; fi_compare_atomic.
enum class atomic_kind : std::uint8_t { base, fetch, compare };

/// The size of a word of weft's atomics.
inline constexpr std::uint64_t word_size = sizeof(std::uint64_t);

/// The number of values in one call.
inline constexpr std::size_t most_values = 1;

bool is_offered(atomic_kind kind, fi_datatype type, fi_op op) noexcept;

/// 0: no offered atomic has that type.
std::size_t size_of(fi_datatype type) noexcept;

/// The change of a value of at most 8 bytes, within the 8 bytes that contain it.
struct value_change {
  fi_op op = FI_ATOMIC_READ;
  fi_datatype type = FI_UINT64;
  unsigned shift = 0;         ///< position of the value among the 64 bits
  std::uint64_t operand = 0;  ///< values are in the lowest bits
  std::uint64_t compare = 0;  ///< FI_CSWAP: the expected value; FI_MSWAP: the bits to change
  void* result = nullptr;     ///< receives the former value; null: not wanted

  /// \param address of the value; words of 8 bytes begin at multiples of 8
  void place_at(std::uint64_t address) noexcept;
  bool fills_word() const noexcept { return size_of(type) == sizeof(std::uint64_t); }
  std::uint64_t value_in(std::uint64_t word) const noexcept;
  std::uint64_t applied_to(std::uint64_t word) const noexcept;
};

std::uint64_t load_value(const void* from, fi_datatype type) noexcept;
void store_value(void* to, fi_datatype type, std::uint64_t value) noexcept;

}  // namespace weft::ofi
