// SPDX-License-Identifier: Apache-2.0
// Bytes of a call or a reply. Applications do not name these.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include <weft/message.hpp>

namespace weft::detail {

/// Bytes in memory of their own, or a view. Copies share the memory. It is not filled: of memory
/// for bytes that a peer has announced, the kernel gives only as much as has come.
class call_bytes {
 public:
  call_bytes() = default;
  /// \throws std::bad_alloc
  explicit call_bytes(std::size_t size) : size_(size) {
    if (size > brief_.size()) {
      long_ = std::make_shared_for_overwrite<std::byte[]>(size);
      view_ = long_.get();
    }
  }
  static call_bytes view_of(const_buffer b) noexcept {
    call_bytes c;
    c.view_ = b.data();
    c.size_ = b.size();
    return c;
  }

  const_buffer bytes() const noexcept { return {view_ ? view_ : brief_.data(), size_}; }
  std::byte* data() noexcept { return long_ ? long_.get() : brief_.data(); }

 private:
  std::size_t size_ = 0;
  std::array<std::byte, 64> brief_{};
  std::shared_ptr<std::byte[]> long_;
  const std::byte* view_ = nullptr;
};

}  // namespace weft::detail
