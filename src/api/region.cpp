// SPDX-License-Identifier: Apache-2.0
#include <weft/region.hpp>

#include <utility>

#include "api/core.hpp"

namespace weft {

region::region(context& owner, std::span<std::byte> memory, rights may)
    : at_(&owner.core().messenger()), called_{at_->add_region(memory, may), 0}, bytes_(memory) {}

region::region(context& owner, std::span<std::byte> memory, rights may, region_name called)
    : at_(&owner.core().messenger()), called_(called), bytes_(memory) {
  at_->add_region(called, memory, may);
}

region::region(region&& other) noexcept
    : at_(std::exchange(other.at_, nullptr)),
      called_(std::exchange(other.called_, {})),
      bytes_(std::exchange(other.bytes_, {})) {}

region& region::operator=(region&& other) noexcept {
  std::swap(at_, other.at_);
  std::swap(called_, other.called_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

region::~region() {
  if (at_ && !at_->engine().is_inherited()) at_->end_region(called_.key);
}

detail::region_end_request region::end() const noexcept { return {at_, called_.key}; }

void region::release() noexcept { at_ = nullptr; }

remote_region region::remote() const noexcept {
  return {called_.key, called_.first, bytes_.size()};
}

detail::notified_request region::notified() const noexcept { return {at_, called_.key}; }

}  // namespace weft
