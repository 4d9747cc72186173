// SPDX-License-Identifier: Apache-2.0
#include <weft/region.hpp>

#include <utility>

#include "api/core.hpp"

namespace weft {

region::region(context& owner, std::span<std::byte> memory, rights may)
    : at_(&owner.core().messenger()), key_(at_->add_region(memory, may)), bytes_(memory) {}

region::region(region&& other) noexcept
    : at_(std::exchange(other.at_, nullptr)),
      key_(std::exchange(other.key_, 0)),
      bytes_(std::exchange(other.bytes_, {})) {}

region& region::operator=(region&& other) noexcept {
  std::swap(at_, other.at_);
  std::swap(key_, other.key_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

region::~region() {
  if (at_ && !at_->engine().is_inherited()) at_->end_region(key_);
}

detail::region_end_request region::end() const noexcept { return {at_, key_}; }

void region::release() noexcept { at_ = nullptr; }

remote_region region::remote() const noexcept { return {key_, 0, bytes_.size()}; }

detail::notified_request region::notified() const noexcept { return {at_, key_}; }

}  // namespace weft
