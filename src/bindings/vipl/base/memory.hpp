// SPDX-License-Identifier: Apache-2.0
// Registered memory and protection tags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include <weft/memory.hpp>
#include <weft/region.hpp>

#include "bindings/vipl/base/object.hpp"

namespace weft::vipl {

class nic;

struct protection_tag final : object_of<object::kind::protection_tag> {
  protection_tag(nic& of, std::uint32_t n) noexcept : owner(of), number(n) {}

  nic& owner;
  const std::uint32_t number;
  std::size_t users = 0;  // registrations and VIs; with the NIC locked
};

/// The number of no tag: a program may leave out the tags of VIs and of memory.
inline constexpr std::uint32_t no_tag = 0;

/// Whether that is a tag of the NIC, or null.
inline bool fits_as_tag(const nic& n, VIP_PROTECTION_HANDLE handle) noexcept {
  const protection_tag* const t = object::at<protection_tag>(handle);
  return !handle || (t && &t->owner == &n);
}
/// Of a handle that fits.
inline std::uint32_t number_of_tag(VIP_PROTECTION_HANDLE handle) noexcept {
  const protection_tag* const t = object::at<protection_tag>(handle);
  return t ? t->number : no_tag;
}
/// One user more or less of a tag, if there is one. With the NIC locked.
inline void count_user(VIP_PROTECTION_HANDLE handle, int change) noexcept {
  if (protection_tag* const t = object::at<protection_tag>(handle))
    t->users += static_cast<std::size_t>(change);
}
/// A VI without a tag uses all memory of its NIC; memory without one is for such VIs only.
constexpr bool may_use(std::uint32_t tag_of_vi, std::uint32_t tag_of_memory) noexcept {
  return tag_of_vi == no_tag || tag_of_vi == tag_of_memory;
}

/// Memory where none is shared with other processes. Begins at a page, as shared memory does, so
/// that descriptors may be in it.
class plain_memory {
 public:
  static constexpr std::align_val_t alignment{4096};
  explicit plain_memory(std::size_t size)  ///< \throws std::bad_alloc
      : bytes_(static_cast<std::byte*>(::operator new(size, alignment))), size_(size) {}
  std::span<std::byte> bytes() const noexcept { return {bytes_.get(), size_}; }

 private:
  struct release {
    void operator()(std::byte* p) const noexcept { ::operator delete(p, alignment); }
  };
  std::unique_ptr<std::byte, release> bytes_;
  std::size_t size_;
};

/// One registration.
struct registration {
  std::span<std::byte> bytes;
  VIP_MEM_ATTRIBUTES attributes;
  std::uint32_t tag;                 // the number of its protection tag
  std::optional<region> shown;       // to RDMA of peers, if the attributes allow any
  std::optional<region> open;        // the same for peers of VIs without a tag, once there are any
  std::optional<shared_memory> own;  // memory of the library, or, without shared memory:
  std::optional<plain_memory> plain;
  bool of_library() const noexcept { return own || plain; }
};

/// Whether a posted descriptor is in that memory, or names it in a segment of this side.
/// \param first the number of the first such segment: 1 for RDMA
bool uses(const VIP_DESCRIPTOR& d, unsigned first, const registration& r,
          VIP_MEM_HANDLE handle) noexcept;

/// Bytes of a descriptor with its segments.
inline std::size_t size_of(const VIP_DESCRIPTOR& d) noexcept {
  return sizeof(VIP_CONTROL_SEGMENT) + d.CS.SegCount * sizeof(VIP_DESCRIPTOR_SEGMENT);
}

/// All registrations of a NIC, by their handles. With the NIC locked. Regions are made and ended
/// without the lock, by the callers.
class memory_table {
 public:
  /// \return 0: there is no handle left
  VIP_MEM_HANDLE add(std::unique_ptr<registration> r);
  std::unique_ptr<registration> remove(VIP_MEM_HANDLE handle) noexcept;
  /// The handles of all registrations. \throws std::bad_alloc
  std::vector<VIP_MEM_HANDLE> handles() const;
  registration* find(VIP_MEM_HANDLE handle) noexcept {
    const std::size_t slot = handle & slot_mask;
    if (slot >= slots_.size() || slots_[slot].handle != handle) return nullptr;
    return slots_[slot].what.get();
  }

  /// Whether the bytes are within that registration.
  static bool contains(const registration& r, const void* address, std::size_t size) noexcept {
    const auto first = reinterpret_cast<std::uintptr_t>(r.bytes.data());
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= first && at - first <= r.bytes.size() && size <= r.bytes.size() - (at - first);
  }
  /// How many bytes of the registration there are from that address in it on.
  static std::size_t left(const registration& r, const void* address) noexcept {
    return r.bytes.size() -
           static_cast<std::size_t>(static_cast<const std::byte*>(address) - r.bytes.data());
  }

  /// For the end of the NIC, with its context alive: ends regions and shared memory that the
  /// program has left.
  void release_all() noexcept;

 private:
  static constexpr unsigned slot_bits = 20;  // the other bits tell uses of a slot apart
  static constexpr std::size_t slot_mask = (std::size_t{1} << slot_bits) - 1;
  struct slot {
    VIP_MEM_HANDLE handle = 0;
    std::unique_ptr<registration> what;
  };
  std::vector<slot> slots_{1};  // the first one is not used, so no handle is 0
  std::vector<std::uint32_t> free_;
};

}  // namespace weft::vipl
