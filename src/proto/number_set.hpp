// SPDX-License-Identifier: Apache-2.0
// Which of a row of numbers have been seen, where most come nearly in order.
#pragma once

#include <cstdint>
#include <deque>

namespace weft::proto {

/// Everything below `first_missing`, and some beyond it. Costs a byte for each number between the
/// first missing one and the largest; callers bound how far ahead they let it get.
class number_set {
 public:
  bool has(std::uint64_t n) const noexcept {
    return n < first_ || (n - first_ < beyond_.size() && beyond_[n - first_]);
  }

  /// \throws std::bad_alloc, and nothing has changed
  void add(std::uint64_t n) {
    if (n < first_) return;
    if (n - first_ >= beyond_.size()) beyond_.resize(n - first_ + 1);
    beyond_[n - first_] = true;
    for (; !beyond_.empty() && beyond_.front(); ++first_) beyond_.pop_front();
  }

  std::uint64_t first_missing() const noexcept { return first_; }

 private:
  std::uint64_t first_ = 0;
  std::deque<bool> beyond_;
};

}  // namespace weft::proto
