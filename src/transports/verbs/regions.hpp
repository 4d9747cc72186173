// SPDX-License-Identifier: Apache-2.0
// Memory of applications, as a device knows it and as peers name it.
#pragma once

#include "transports/registration_cache.hpp"
#include "transports/verbs/hardware/device.hpp"

namespace weft::transports::verbs {

/// Bytes of one region that can be named.
inline constexpr std::uint64_t most_named = std::uint64_t{1} << 32;

/// A place in registered memory of one side, as a read or a write of the device names it. Travels
/// in the 64 bits of a remote_address, the key above the address, so that offsets add up. That is
/// why regions have addresses of their own, which begin at the offset of their memory within its
/// page.
struct named_place {
  std::uint32_t key = 0;
  std::uint64_t address = 0;  ///< below most_named

  constexpr remote_address packed() const noexcept {
    return remote_address::unpack(std::uint64_t{key} << 32 | address);
  }
  static constexpr named_place of(remote_address a) noexcept {
    return {static_cast<std::uint32_t>(a.packed() >> 32), a.packed() & (most_named - 1)};
  }
};

/// Registers memory with the device for a registration_cache. Owned by the transport; the device
/// outlives it. Progress lock held only.
class regions final : public memory_registrar {
 public:
  explicit regions(device& d) noexcept : device_(d) {}

  void* enlist(std::span<std::byte> memory, memory_access how) noexcept override;
  void dismiss(void* r) noexcept override { delete static_cast<registration*>(r); }

  /// Why the device refused some memory, and the cure; empty: it took all.
  const std::string& trouble() const noexcept { return trouble_; }

 private:
  device& device_;
  std::string trouble_;
};

/// The device's address for a byte of memory in use.
std::uint64_t address_in(const registration_cache::use& u, const std::byte* at) noexcept;
inline const registration& registration_of(const registration_cache::use& u) noexcept {
  return *static_cast<const registration*>(u.registration());
}

}  // namespace weft::transports::verbs
