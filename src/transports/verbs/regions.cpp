// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/regions.hpp"

#include <new>

namespace weft::transports::verbs {

namespace {

/// The kernel requires that an address of a region equals the memory's address within a page. Those
/// that are equal within its largest page (arm64) are equal within a smaller one.
std::uint64_t first_address(const std::byte* memory) noexcept {
  constexpr std::uintptr_t largest_page = 64 * 1024;
  return reinterpret_cast<std::uintptr_t>(memory) % largest_page;
}

}  // namespace

void* regions::enlist(std::span<std::byte> memory, memory_access how) noexcept {
  const int access = how == memory_access::read ? IBV_ACCESS_REMOTE_READ
                                                : IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
                                                      IBV_ACCESS_LOCAL_WRITE;
  try {
    return device_.enroll(memory, first_address(memory.data()), access).release();
  } catch (const error& e) {
    if (trouble_.empty()) try {
        trouble_ = e.what();
      } catch (const std::bad_alloc&) {
        // No memory: the reason is left out.
      }
  } catch (const std::bad_alloc&) {
    // As if the device had no room.
  }
  return nullptr;
}

std::uint64_t address_in(const registration_cache::use& u, const std::byte* at) noexcept {
  const std::byte* const begin = u.memory().data();
  return first_address(begin) + static_cast<std::uint64_t>(at - begin);
}

}  // namespace weft::transports::verbs
