// SPDX-License-Identifier: Apache-2.0
// Recycles objects.
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace weft::proto {

/// Makes objects, and keeps some of those that are given back, after t.reset(). The others go back
/// to the system, so that the memory for a peak does not stay. Not thread-safe (progress lock).
template <class T>
class pool {
 public:
  /// \throws std::bad_alloc
  T& take() {
    if (free_.empty()) grow();
    T& t = *free_.back().release();
    free_.pop_back();
    ++in_use_;
    return t;
  }

  void give_back(T& t) noexcept {
    std::unique_ptr<T> one(&t);
    --in_use_;
    if (free_.size() == kept) return;
    t.reset();
    free_.push_back(std::move(one));
  }

  /// How many objects are in use.
  std::size_t in_use() const noexcept { return in_use_; }

 private:
  static constexpr std::size_t kept = 1024;
  static constexpr std::size_t at_once = 64;

  void grow() {
    free_.reserve(kept);  // `give_back` cannot fail
    for (std::size_t i = 0; i != at_once; ++i) {
      try {
        free_.push_back(std::make_unique<T>());
      } catch (const std::bad_alloc&) {
        if (free_.empty()) throw;
        return;
      }
    }
  }

  std::vector<std::unique_ptr<T>> free_;
  std::size_t in_use_ = 0;
};

}  // namespace weft::proto
