// SPDX-License-Identifier: Apache-2.0
#include "bindings/vipl/base/memory.hpp"

#include <utility>

namespace weft::vipl {

bool uses(const VIP_DESCRIPTOR& d, unsigned first, const registration& r,
          VIP_MEM_HANDLE handle) noexcept {
  if (memory_table::contains(r, &d, 1)) return true;
  for (unsigned i = first; i < d.CS.SegCount; ++i)
    if (segment_of(d, i).Local.Handle == handle && segment_of(d, i).Local.Length != 0) return true;
  return false;
}

VIP_MEM_HANDLE memory_table::add(std::unique_ptr<registration> r) {
  if (free_.empty()) {
    if (slots_.size() > slot_mask) return 0;
    free_.reserve(slots_.size() + 1);
    const auto number = static_cast<VIP_MEM_HANDLE>(slots_.size());
    slots_.emplace_back().handle = number;
    free_.push_back(number);
  }
  slot& s = slots_[free_.back()];
  free_.pop_back();
  s.what = std::move(r);
  return s.handle;
}

std::unique_ptr<registration> memory_table::remove(VIP_MEM_HANDLE handle) noexcept {
  slot& s = slots_[handle & slot_mask];
  s.handle += VIP_MEM_HANDLE{1} << slot_bits;
  free_.push_back(static_cast<std::uint32_t>(handle & slot_mask));
  return std::move(s.what);
}

std::vector<VIP_MEM_HANDLE> memory_table::handles() const {
  std::vector<VIP_MEM_HANDLE> all;
  for (const slot& s : slots_)
    if (s.what) all.push_back(s.handle);
  return all;
}

void memory_table::release_all() noexcept {
  for (slot& s : slots_)
    if (s.what) {
      s.what->shown.reset();
      s.what->open.reset();
      s.what->own.reset();  // ends in the context
    }
}

}  // namespace weft::vipl
