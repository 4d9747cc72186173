// SPDX-License-Identifier: Apache-2.0
// value_ring: a queue in memory that is allocated once.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace weft::detail {

/// The oldest value leaves first. Not thread-safe.
template <class T>
class value_ring {
 public:
  explicit value_ring(std::size_t capacity)
      : places_(std::make_unique<std::optional<T>[]>(capacity)), capacity_(capacity) {}

  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }

  /// \param value moved away unless the ring is full. \return false: it is full
  bool push(T& value) noexcept {
    if (size_ == capacity_) return false;
    const std::size_t behind = first_ + size_;
    places_[behind < capacity_ ? behind : behind - capacity_].emplace(std::move(value));
    ++size_;
    return true;
  }

  /// Moves the oldest value to `to`, which is empty; it stays empty if there is none.
  void pop(std::optional<T>& to) noexcept {
    if (size_ == 0) return;
    to.emplace(std::move(*places_[first_]));
    places_[first_].reset();
    if (++first_ == capacity_) first_ = 0;
    --size_;
  }

 private:
  std::unique_ptr<std::optional<T>[]> places_;
  std::size_t capacity_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace weft::detail
