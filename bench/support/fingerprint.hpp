// SPDX-License-Identifier: Apache-2.0
// The values of an array in a few sums, so that processes that hold different parts of it can
// compare it as a whole with the array of one process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weft::bench {

/// A number that looks random and depends on `index` only: every process computes the same.
constexpr std::uint64_t scrambled(std::uint64_t index) noexcept {
  index = (index + 1) * 0x9e3779b97f4a7c15U;
  index = (index ^ (index >> 32)) * 0xd6e8feb86659fd93U;
  index = (index ^ (index >> 32)) * 0xd6e8feb86659fd93U;
  return index ^ (index >> 32);
}

/// The same as a fraction, from 0 to below 1.
constexpr double scrambled_fraction(std::uint64_t index) noexcept {
  return static_cast<double>(scrambled(index) >> 11) * 0x1p-53;
}

/// Weighted sums over the array in groups; place and value decide what is added. So the order of
/// adding does not matter except for rounding, and whole numbers below 2^20 are summed exactly.
class fingerprint {
 public:
  /// Adds the value at `place` of the whole array.
  void add(std::uint64_t place, double value) noexcept;

  /// All sums, to be added up over the processes that hold parts of the array.
  std::span<double> sums() noexcept { return sums_; }

  /// Describes the largest difference from `expected`; empty when there is none beyond `tolerance`,
  /// a share of the sum of the magnitudes. Not-a-number is always a difference.
  std::string difference(const fingerprint& expected, double tolerance) const;

 private:
  static constexpr std::size_t groups = 64;
  std::array<double, 2 * groups> sums_{};  // of values, then of magnitudes
};

}  // namespace weft::bench
