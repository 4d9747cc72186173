// SPDX-License-Identifier: Apache-2.0
#include <weft/memory.hpp>

#include <utility>

#include "api/core/core.hpp"

namespace weft {

shared_memory::shared_memory(context& owner, std::size_t size)
    : owner_(&detail::core_of(owner)), bytes_(owner_->allocate_shared(size)) {}

shared_memory::shared_memory(shared_memory&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)), bytes_(std::exchange(other.bytes_, {})) {}

shared_memory& shared_memory::operator=(shared_memory&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

shared_memory::~shared_memory() {
  if (owner_) owner_->free_shared(bytes_);
}

}  // namespace weft
