// SPDX-License-Identifier: Apache-2.0
// Memory for the elements of a span or a string_view that a handler gets. Applications do not name
// it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include <weft/detail/value_walk.hpp>

namespace weft::detail {

/// As a vector, but its elements are not filled: of memory for elements that have not come, the
/// kernel gives none.
template <class T>
class element_memory {
 public:
  using value_type = T;
  element_memory() = default;
  element_memory(element_memory&& o) noexcept
      : elements_(std::move(o.elements_)),
        size_(std::exchange(o.size_, 0)),
        capacity_(std::exchange(o.capacity_, 0)) {}
  element_memory& operator=(element_memory&& o) noexcept {
    elements_ = std::move(o.elements_);
    size_ = std::exchange(o.size_, 0);
    capacity_ = std::exchange(o.capacity_, 0);
    return *this;
  }
  ~element_memory() = default;

  std::size_t size() const noexcept { return size_; }
  T* data() noexcept { return elements_.get(); }
  const T* data() const noexcept { return elements_.get(); }
  void clear() noexcept { size_ = 0; }
  /// Keeps the elements that it has. \throws std::bad_alloc
  void resize(std::size_t size) {
    if (size > capacity_) {
      std::unique_ptr<T[]> more = std::make_unique_for_overwrite<T[]>(size);
      std::copy_n(elements_.get(), size_, more.get());
      elements_ = std::move(more);
      capacity_ = size;
    }
    size_ = size;
  }

 private:
  std::unique_ptr<T[]> elements_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

template <class T>
struct elements_of<element_memory<T>> {
  using type = T;
  static constexpr bool owns = true;
};

template <class T>
inline constexpr bool fills_memory<element_memory<T>> = false;

}  // namespace weft::detail
