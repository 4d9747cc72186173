// SPDX-License-Identifier: Apache-2.0
#include "proto/region_table.hpp"

#include <fmt/format.h>

#include <random>
#include <stdexcept>

#include <weft/error.hpp>

namespace weft {

remote_region remote_region::part(std::uint64_t from, std::uint64_t bytes) const {
  if (from > size || bytes > size - from)
    throw error(errc::invalid_argument, "this part lies beyond the end of the region");
  return {key, offset + from, bytes};
}

}  // namespace weft

namespace weft::proto {

std::uint64_t region_table::add(mutable_buffer memory, rights may) {
  std::uint32_t secret = 0;
  try {
    secret = std::random_device()();
  } catch (const std::runtime_error& e) {
    throw error(errc::system,
                fmt::format("no random number for the key of a region: {}", e.what()));
  }
  const std::uint64_t key = std::uint64_t{++numbers_} << 32 | secret;
  registered& r = regions_[key];
  r.memory = memory;
  r.may = may;
  return key;
}

registered* region_table::find(std::uint64_t key) noexcept {
  const auto found = regions_.find(key);
  return found == regions_.end() || found->second.ending ? nullptr : &found->second;
}

mutable_buffer region_table::allow(const wanted_access& wanted,
                                   detail::access_refusal& why) noexcept {
  using detail::access_refusal;
  const registered* const r = find(wanted.key);
  const auto has = [&] {
    const auto needs = static_cast<unsigned>(wanted.right);
    return (static_cast<unsigned>(r->may) & needs) == needs;
  };
  why = !r       ? access_refusal::no_region
        : !has() ? access_refusal::no_right
        : wanted.offset > r->memory.size() || wanted.size > r->memory.size() - wanted.offset
            ? access_refusal::out_of_bounds
            : access_refusal::none;
  return why == access_refusal::none ? r->memory.subspan(wanted.offset, wanted.size)
                                     : mutable_buffer{};
}

}  // namespace weft::proto
