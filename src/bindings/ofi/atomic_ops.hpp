// SPDX-License-Identifier: Apache-2.0
// libfabric's atomics by weft's two, which add to 8 bytes, or store them if they are what is
// expected: all others look first, and then store until nobody came between. fi_atomic(3).
#pragma once

#include <rdma/fi_atomic.h>

#include <cstddef>
#include <cstdint>

namespace weft::ofi {

/// fi_atomic; fi_fetch_atomic; fi_compare_atomic.
enum class atomic_kind : std::uint8_t { base, fetch, compare };

/// What weft's atomics are done on.
inline constexpr std::uint64_t word_size = sizeof(std::uint64_t);

/// Values of one call.
inline constexpr std::size_t most_values = 1;

bool is_offered(atomic_kind kind, fi_datatype type, fi_op op) noexcept;

/// 0: none that is offered has that type.
std::size_t size_of(fi_datatype type) noexcept;

/// What is to become of a value of at most 8 bytes, in the 8 bytes that it lies in.
struct value_change {
  fi_op op = FI_ATOMIC_READ;
  fi_datatype type = FI_UINT64;
  unsigned shift = 0;         ///< where the value is among the 64 bits
  std::uint64_t operand = 0;  ///< values are in the lowest bits
  std::uint64_t compare = 0;  ///< FI_CSWAP
  void* result = nullptr;     ///< what it was before; null: nobody wants to know

  /// \param address of the value, where a word of 8 bytes begins at each multiple of 8
  void place_at(std::uint64_t address) noexcept;
  bool fills_word() const noexcept { return size_of(type) == sizeof(std::uint64_t); }
  std::uint64_t value_in(std::uint64_t word) const noexcept;
  std::uint64_t applied_to(std::uint64_t word) const noexcept;
};

std::uint64_t load_value(const void* from, fi_datatype type) noexcept;
void store_value(void* to, fi_datatype type, std::uint64_t value) noexcept;

}  // namespace weft::ofi
