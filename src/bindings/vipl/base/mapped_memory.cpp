// SPDX-License-Identifier: Apache-2.0
#include "bindings/vipl/base/mapped_memory.hpp"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>

namespace weft::vipl {

bool is_writable(std::span<const std::byte> memory) noexcept {
  std::uintptr_t at = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t end = at + memory.size();
  if (end < at) return false;
  struct closer {
    void operator()(std::FILE* f) const noexcept { std::fclose(f); }
  };
  const std::unique_ptr<std::FILE, closer> maps(std::fopen("/proc/self/maps", "re"));
  if (!maps) return true;
  // Mappings come in the order of their addresses; the names behind them are skipped.
  std::uintptr_t first = 0;
  std::uintptr_t behind = 0;
  char rights[5] = "";
  while (at < end && std::fscanf(maps.get(), "%" SCNxPTR "-%" SCNxPTR " %4s%*[^\n]", &first,
                                 &behind, rights) == 3) {
    if (behind <= at) continue;
    if (first > at || rights[0] != 'r' || rights[1] != 'w') return false;
    at = behind;
  }
  return at >= end;
}

}  // namespace weft::vipl
