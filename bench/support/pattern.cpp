// SPDX-License-Identifier: Apache-2.0
#include "support/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace weft::bench {
namespace {

std::byte pattern_byte(std::size_t place, std::uint64_t seed) noexcept {
  return static_cast<std::byte>(((place * 7 + (place >> 8) * 13 + seed * 131) ^ seed) & 0xFF);
}

}  // namespace

heap_buffers::heap_buffers(std::size_t count, std::size_t size) : size_(size) {
  for (std::size_t i = 0; i < count; ++i) {
    memory_.push_back(std::make_unique<std::byte[]>(std::max<std::size_t>(size, 1)));
    fill({memory_.back().get(), size}, 0);
  }
}

void fill(std::span<std::byte> buffer, std::uint64_t seed) noexcept {
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = pattern_byte(i, seed);
}

void verify(std::span<const std::byte> buffer, std::uint64_t seed) {
  for (std::size_t i = stamp_size; i + stamp_size < buffer.size(); ++i)
    if (buffer[i] != pattern_byte(i, seed))
      throw std::runtime_error(fmt::format(
          "payload wrong: byte {} of {} is {:#x} and should be {:#x}", i, buffer.size(),
          static_cast<unsigned>(buffer[i]), static_cast<unsigned>(pattern_byte(i, seed))));
}

void wrong_stamp(std::span<const std::byte> buffer, std::uint64_t expected) {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  const auto n = std::min(buffer.size(), stamp_size);
  std::memcpy(&first, buffer.data(), n);
  std::memcpy(&last, buffer.data() + buffer.size() - n, n);
  throw std::runtime_error(
      fmt::format("payload wrong: a message of {} bytes should carry number {} and carries {} at "
                  "its start, {} at its end",
                  buffer.size(), expected, first, last));
}

}  // namespace weft::bench
