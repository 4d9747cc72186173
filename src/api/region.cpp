// SPDX-License-Identifier: Apache-2.0
#include <weft/region.hpp>

#include <utility>

#include "api/core.hpp"

namespace weft {

region::region(context& owner, std::span<std::byte> memory, rights permissions)
    : messenger_(&owner.core().messenger()),
      name_{messenger_->regions().add(memory, permissions), 0},
      bytes_(memory) {}

region::region(context& owner, std::span<std::byte> memory, rights permissions, region_name name)
    : messenger_(&owner.core().messenger()), name_(name), bytes_(memory) {
  messenger_->regions().add(name, memory, permissions);
}

region::region(region&& other) noexcept
    : messenger_(std::exchange(other.messenger_, nullptr)),
      name_(std::exchange(other.name_, {})),
      bytes_(std::exchange(other.bytes_, {})) {}

region& region::operator=(region&& other) noexcept {
  std::swap(messenger_, other.messenger_);
  std::swap(name_, other.name_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

region::~region() {
  if (messenger_ && !messenger_->engine().is_inherited()) messenger_->regions().end(name_.key);
}

detail::region_end_request region::end() const noexcept { return {messenger_, name_.key}; }

void region::release() noexcept { messenger_ = nullptr; }

remote_region region::remote() const noexcept { return {name_.key, name_.first, bytes_.size()}; }

detail::notified_request region::notified() const noexcept { return {messenger_, name_.key}; }

}  // namespace weft
