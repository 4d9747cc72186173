// SPDX-License-Identifier: Apache-2.0
#include "proto/region_table.hpp"

#include <weft/error.hpp>

#include "proto/frames.hpp"

namespace weft {

remote_region remote_region::part(std::uint64_t from, std::uint64_t bytes) const {
  if (from > size || bytes > size - from)
    throw error(errc::invalid_argument, "this part lies beyond the end of the region");
  return {key, offset + from, bytes};
}

}  // namespace weft

namespace weft::proto {

std::uint64_t region_table::add(mutable_buffer memory, rights permissions) {
  std::uint64_t key = secret_();
  while (key == 0 || regions_.contains(key)) key = secret_();
  add({key, 0}, memory, permissions);
  return key;
}

void region_table::add(const region_name& name, mutable_buffer memory, rights permissions) {
  if (name.key == 0 || regions_.contains(name.key))
    throw error(errc::invalid_argument, name.key == 0
                                            ? "0 is the key of no region; choose another one"
                                            : "another region has this key; choose another one");
  if (name.first > size_mask || memory.size() > size_mask - name.first)
    throw error(errc::invalid_argument,
                "the last byte of this region would be counted as 2^48 or more");
  region_entry& r = regions_[name.key];
  r.memory = memory;
  r.first = name.first;
  r.permissions = permissions;
}

region_entry* region_table::find(std::uint64_t key) noexcept {
  const auto found = regions_.find(key);
  return found == regions_.end() || found->second.ending ? nullptr : &found->second;
}

mutable_buffer region_table::allow(const rma_range& wanted, detail::rma_refusal& why) noexcept {
  using detail::rma_refusal;
  const region_entry* const r = find(wanted.key);
  const std::uint64_t from = r ? wanted.offset - r->first : 0;  // before it is far behind it
  const auto has = [&] {
    const auto needs = static_cast<unsigned>(wanted.right);
    return (static_cast<unsigned>(r->permissions) & needs) == needs;
  };
  why = !r       ? rma_refusal::no_region
        : !has() ? rma_refusal::no_right
        : from > r->memory.size() || wanted.size > r->memory.size() - from
            ? rma_refusal::out_of_bounds
            : rma_refusal::none;
  return why == rma_refusal::none ? r->memory.subspan(from, wanted.size) : mutable_buffer{};
}

}  // namespace weft::proto
