// SPDX-License-Identifier: Apache-2.0
// Shared by all fuzz targets. A target is one file that defines `run`; entry.cpp gives it to
// libFuzzer, replay.cpp to a plain main that goes through its corpus.
// libFuzzer, replay.cpp to a plain main that goes through its corpus.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

namespace weft::fuzz {

/// Takes an input apart. Beyond its end all reads give zero.
class input {
 public:
  explicit input(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  bool empty() const noexcept { return rest_.empty(); }
  std::span<const std::byte> rest() const noexcept { return rest_; }

  /// The next `n` bytes, or as many as are left.
  std::span<const std::byte> bytes(std::size_t n) noexcept {
    const auto taken = rest_.first(std::min(n, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  /// The next bytes as a number or another plain value.
  template <class T>
  T get() noexcept {
    T value{};
    const auto field = bytes(sizeof value);
    if (!field.empty()) std::memcpy(&value, field.data(), field.size());
    return value;
  }

 private:
  std::span<const std::byte> rest_;
};

/// A condition that must hold for every input.
inline void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: broken promise: %s\n", what);
  std::abort();
}

/// The target: handles one input, and leaves nothing behind.
void run(input in);

}  // namespace weft::fuzz
