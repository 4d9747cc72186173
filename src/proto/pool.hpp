// SPDX-License-Identifier: Apache-2.0
// Objects that are used again.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace weft::proto {

/// Makes objects in chunks and keeps those that are given back, after t.reset(). Not thread-safe
/// (baton).
template <class T>
class pool {
 public:
  /// \throws std::bad_alloc
  T& take() {
    if (free_.empty()) grow();
    T& t = *free_.back();
    free_.pop_back();
    return t;
  }

  void give_back(T& t) noexcept {
    t.reset();
    free_.push_back(&t);
  }

  /// How many are out.
  std::size_t in_use() const noexcept { return chunks_.size() * chunk - free_.size(); }

 private:
  static constexpr std::size_t chunk = 64;

  void grow() {
    free_.reserve((chunks_.size() + 1) * chunk);  // `give_back` cannot fail
    chunks_.push_back(std::make_unique<T[]>(chunk));
    for (std::size_t i = chunk; i-- != 0;) free_.push_back(&chunks_.back()[i]);
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<T*> free_;
};

}  // namespace weft::proto
