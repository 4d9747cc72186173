// SPDX-License-Identifier: Apache-2.0
#include <weft/region.hpp>

#include <fmt/format.h>

#include <utility>

#include <weft/region_of.hpp>

#include "api/core/core.hpp"

namespace weft {

region::region(context& owner, std::span<std::byte> memory, rights permissions)
    : messenger_(&detail::core_of(owner).messenger()),
      name_{messenger_->regions().add(memory, permissions), 0},
      bytes_(memory) {}

region::region(context& owner, std::span<std::byte> memory, rights permissions, region_name name)
    : messenger_(&detail::core_of(owner).messenger()), name_(name), bytes_(memory) {
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

region_end_request region::end() const noexcept { return {messenger_, name_.key}; }

void region::release() noexcept { messenger_ = nullptr; }

remote_region region::remote() const noexcept { return {name_.key, name_.first, bytes_.size()}; }

notified_request region::notified() const noexcept { return {messenger_, name_.key}; }

remote_region detail::part_of_elements(const remote_region& all, std::size_t element,
                                       std::uint64_t from, std::uint64_t count) {
  const std::uint64_t has = all.size / element;
  if (from > has || count > has - from)
    throw error(
        errc::invalid_argument,
        fmt::format("{} elements from the {}th on exceed a remote region of {}", count, from, has));
  return all.part(from * element, count * element);
}

}  // namespace weft
