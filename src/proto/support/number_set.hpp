// SPDX-License-Identifier: Apache-2.0
// The numbers of a sequence that have been seen, where most come nearly in order.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>

namespace weft::proto {

/// Holds all numbers below `first_missing`, and some beyond it. Costs a bit for each number between
/// the first missing one and the largest; callers bound how far ahead the largest may be. A number
/// far ahead makes room for all before it, in words, so the time for this is negligible.
class number_set {
 public:
  bool has(std::uint64_t n) const noexcept {
    if (n < first_) return true;
    const std::uint64_t word = (n - first_) / 64;
    return word < words_.size() && (words_[word] >> n % 64 & 1) != 0;
  }

  /// \throws std::bad_alloc, and then nothing has changed
  void add(std::uint64_t n) {
    if (n < first_) return;
    const std::uint64_t word = (n - first_) / 64;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= std::uint64_t{1} << n % 64;
    for (; !words_.empty() && words_.front() == ~std::uint64_t{0}; first_ += 64) words_.pop_front();
  }

  std::uint64_t first_missing() const noexcept {
    return words_.empty() ? first_
                          : first_ + static_cast<unsigned>(std::countr_one(words_.front()));
  }

 private:
  std::uint64_t first_ = 0;  // the first number in words_: a multiple of 64
  std::deque<std::uint64_t> words_;
};

}  // namespace weft::proto
