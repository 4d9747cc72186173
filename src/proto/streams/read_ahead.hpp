// SPDX-License-Identifier: Apache-2.0
// Bytes that a reader has fetched before it is known where they end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include <weft/message.hpp>

namespace weft::proto {

/// A queue of bytes in one piece, so that it can be searched and decoded. The memory grows with the
/// bytes that have come: it is at most twice as long as these and the room for the next ones.
/// Belongs to a stream's reader, progress lock held; while it is lent, to the borrower.
class read_ahead {
 public:
  /// Longer memory is given back when the last byte has been taken.
  static constexpr std::size_t kept = std::size_t{1} << 20;

  bool empty() const noexcept { return begin_ == end_; }
  std::size_t size() const noexcept { return end_ - begin_; }
  const_buffer bytes() const noexcept { return {memory_.get() + begin_, size()}; }

  /// Room behind the bytes, until the next call of any member. Empty: no memory
  mutable_buffer room(std::size_t wanted) noexcept {
    if (room_ - end_ < wanted && !make_room(wanted)) return {};
    return {memory_.get() + end_, wanted};
  }
  /// The first `n` bytes of the room have been filled.
  void filled(std::size_t n) noexcept { end_ += n; }

  void take(std::size_t n) noexcept {
    begin_ += n;
    if (!empty()) return;
    begin_ = end_ = 0;
    if (room_ > kept) {
      memory_.reset();
      room_ = 0;
    }
  }

  void swap(read_ahead& other) noexcept {
    memory_.swap(other.memory_);
    std::swap(room_, other.room_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
  }

 private:
  bool make_room(std::size_t wanted) noexcept {
    const std::size_t n = size();
    std::unique_ptr<std::byte[]> longer;
    if (room_ - n < wanted || n > room_ / 2) {
      const std::size_t length = std::max(n + wanted, 2 * n);
      longer.reset(new (std::nothrow) std::byte[length]);
      if (!longer) return false;
      room_ = length;
    }
    if (n != 0) std::memmove(longer ? longer.get() : memory_.get(), memory_.get() + begin_, n);
    if (longer) memory_ = std::move(longer);
    begin_ = 0;
    end_ = n;
    return true;
  }

  std::unique_ptr<std::byte[]> memory_;
  std::size_t room_ = 0;             // bytes of the memory
  std::size_t begin_ = 0, end_ = 0;  // of the bytes in it
};

}  // namespace weft::proto
