// SPDX-License-Identifier: Apache-2.0
// A queue whose memory grows at one place only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::vipl {

/// Only `reserve` takes memory: what has been reserved can be pushed where an exception would have
/// no one to catch it, as at the end of an operation. Its user counts what may come.
template <class T>
class ring {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  bool empty() const noexcept { return begin_ == end_; }
  std::size_t size() const noexcept { return end_ - begin_; }
  T& operator[](std::size_t i) noexcept { return slots_[(begin_ + i) & mask()]; }
  const T& operator[](std::size_t i) const noexcept { return slots_[(begin_ + i) & mask()]; }
  T& front() noexcept { return (*this)[0]; }
  T& back() noexcept { return (*this)[size() - 1]; }

  /// Room for `n` entries together. \throws std::bad_alloc
  void reserve(std::size_t n) {
    if (n > slots_.size()) [[unlikely]]
      grow(n);
  }
  /// There is room.
  void push(const T& value) noexcept { slots_[end_++ & mask()] = value; }
  T pop() noexcept { return slots_[begin_++ & mask()]; }
  void clear() noexcept { begin_ = end_; }
  template <class Which>
  void erase_if(Which which) noexcept {
    for (std::size_t n = size(); n != 0; --n)
      if (const T value = pop(); !which(value)) push(value);
  }

 private:
  std::size_t mask() const noexcept { return slots_.size() - 1; }
  void grow(std::size_t n) {
    std::size_t room = std::max<std::size_t>(slots_.size(), 16);
    while (room < n) room *= 2;
    std::vector<T> larger(room);
    const std::size_t used = size();
    for (std::size_t i = 0; i != used; ++i) larger[i] = (*this)[i];
    slots_ = std::move(larger);
    begin_ = 0;
    end_ = used;
  }

  std::vector<T> slots_;  // a power of two of them, or none
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace weft::vipl
