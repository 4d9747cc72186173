// SPDX-License-Identifier: Apache-2.0
// Frames: the unit that every transport carries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <weft/message.hpp>

namespace weft::transports {

/// First 16 bytes of every frame, on every transport. `kind` and `flags` belong to the protocol
/// layer, except for the two flags that say what follows the header. docs/wire-format.md.
struct frame_header {
  std::uint64_t tag = 0;
  std::uint32_t size = 0;  ///< bytes of payload in this frame
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  std::uint16_t credit = 0;  ///< eager credit returned, in units of 64 bytes
};
static_assert(sizeof(frame_header) == 16);

// In frame_header::flags.
inline constexpr std::uint8_t has_extension = 0x80;  ///< a and b of the extension follow
inline constexpr std::uint8_t has_immediate = 0x40;  ///< then its third word follows, too

/// More room for headers of protocol frames; the meaning of a and b depends on `kind`.
struct frame_extension {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t immediate = 0;  ///< the sender's word beside the tag; 0 where it does not travel
};
static_assert(sizeof(frame_extension) == 24);

/// How much of the extension travels with a frame. Bytes.
constexpr std::size_t extension_size(const frame_header& h) noexcept {
  if ((h.flags & has_extension) == 0) return 0;
  return (h.flags & has_immediate) == 0 ? 2 * sizeof(std::uint64_t) : sizeof(frame_extension);
}

/// The pointer that a frame's receiver gets: to `x` if the frame has an extension, else null.
constexpr const frame_extension* extension_of(const frame_header& h,
                                              const frame_extension& x) noexcept {
  return (h.flags & has_extension) != 0 ? &x : nullptr;
}

/// Walks over the pieces of a message. A value; the pieces belong to the operation.
template <class Buffer>
class cursor {
 public:
  cursor() = default;
  explicit cursor(std::span<const Buffer> parts, std::size_t offset = 0) noexcept
      : part_(parts.data()), end_(parts.data() + parts.size()) {
    skip(offset);
  }

  /// The longest contiguous run from the cursor on, at most n bytes.
  Buffer run(std::size_t n) const noexcept {
    return part_ == end_ ? Buffer{} : part_->subspan(offset_, std::min(n, part_->size() - offset_));
  }
  void skip(std::size_t n) noexcept {
    while (part_ != end_ && n >= part_->size() - offset_) {
      n -= part_->size() - offset_;
      ++part_;
      offset_ = 0;
    }
    offset_ += part_ == end_ ? 0 : n;
  }

 private:
  const Buffer* part_ = nullptr;
  const Buffer* end_ = nullptr;
  std::size_t offset_ = 0;
};

using gather = cursor<const_buffer>;
using scatter = cursor<mutable_buffer>;

/// Copies the next `n` bytes of a message, or as many as there are, and moves the cursor on.
inline void copy_out(std::byte* to, gather& from, std::size_t n) noexcept {
  while (n != 0) {
    const const_buffer run = from.run(n);
    if (run.empty()) return;
    std::memcpy(to, run.data(), run.size());
    to += run.size();
    n -= run.size();
    from.skip(run.size());
  }
}

/// Copies `n` bytes to the place of the cursor and moves it on; bytes that do not fit are dropped.
inline void copy_in(scatter& into, const std::byte* data, std::uint64_t n) noexcept {
  while (n != 0) {
    const mutable_buffer run = into.run(n);
    if (run.empty()) return;
    std::memcpy(run.data(), data, run.size());
    data += run.size();
    n -= run.size();
    into.skip(run.size());
  }
}

}  // namespace weft::transports
