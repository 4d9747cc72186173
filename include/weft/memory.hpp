// SPDX-License-Identifier: Apache-2.0
// Memory that other processes can read in place.
#pragma once

#include <cstddef>
#include <span>

#include <weft/context.hpp>

namespace weft {

/// Memory from which a peer on the same host copies directly: a large message out of this memory
/// crosses in one copy instead of two, unless the program has never written a page of it. Zeroed;
/// owned by this object; must not outlive the context. After the first send from it, peers can read
/// all of it; they can never write it. Move-only.
class shared_memory {
 public:
  /// \param owner the context whose peers can read the memory
  /// \param size bytes, not 0; rounded up to whole pages by the kernel
  /// \throws weft::error  invalid_argument, unsupported (no shared memory here), out_of_memory,
  ///         system
  shared_memory(context& owner, std::size_t size);
  shared_memory(shared_memory&& other) noexcept;
  shared_memory& operator=(shared_memory&& other) noexcept;
  ~shared_memory();  ///< no send from this memory may be in flight

  std::span<std::byte> bytes() const noexcept { return bytes_; }
  template <class T>
  std::span<T> as() const noexcept {
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

 private:
  detail::core* owner_ = nullptr;
  std::span<std::byte> bytes_;
};

}  // namespace weft
