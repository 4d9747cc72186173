// SPDX-License-Identifier: Apache-2.0
// Bytes of a call or a reply. Applications do not name these.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <weft/detail/message_state.hpp>
#include <weft/message.hpp>

namespace weft::detail {

/// Bytes in memory of their own, or a view; or a long body that stays where it is, between a head
/// and a tail in memory of their own. Copies share the memory. It is not filled: of memory for
/// bytes that a peer has announced, the kernel gives only as much as has come.
class call_bytes {
 public:
  /// Memory for a list, in what lives until the bytes are not needed any more.
  using pieces = std::array<const_buffer, 3>;

  call_bytes() = default;
  /// \throws std::bad_alloc
  explicit call_bytes(std::size_t size) : own_(size) {
    if (size > brief_.size()) long_ = std::make_shared_for_overwrite<std::byte[]>(size);
  }
  static call_bytes view_of(const_buffer b) noexcept {
    call_bytes c;
    c.body_ = b;
    return c;
  }

  /// Puts a body behind the first `head` bytes.
  /// \param keeps the body's owner; null: it lives long enough
  void surround(const_buffer body, std::size_t head, std::shared_ptr<const void> keeps) noexcept {
    body_ = body;
    head_ = head;
    keeps_ = std::move(keeps);
  }

  std::size_t size() const noexcept { return own_ + body_.size(); }
  /// All bytes, which lie in one row: there is no body, or nothing else.
  const_buffer bytes() const noexcept { return own_ == 0 && !body_.empty() ? body_ : own(); }
  /// All bytes. \param memory for the list, of a place that is final, as this object's has to be
  buffer_list<const_buffer> list(pieces& memory) const noexcept {
    if (own_ == 0 || body_.empty()) return bytes();
    std::size_t n = 0;
    if (head_ != 0) memory[n++] = own().first(head_);
    memory[n++] = body_;
    if (head_ != own_) memory[n++] = own().subspan(head_);
    return std::span<const const_buffer>(memory).first(n);
  }
  /// Of the bytes in memory of their own.
  std::byte* data() noexcept { return long_ ? long_.get() : brief_.data(); }

 private:
  const_buffer own() const noexcept { return {long_ ? long_.get() : brief_.data(), own_}; }

  std::size_t own_ = 0;
  std::array<std::byte, 64> brief_{};
  std::shared_ptr<std::byte[]> long_;
  const_buffer body_;
  std::size_t head_ = 0;
  std::shared_ptr<const void> keeps_;
};

}  // namespace weft::detail
