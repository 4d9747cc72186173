// SPDX-License-Identifier: Apache-2.0
// The payloads of messages, and their checks by the receiver. Every contestant uses these
// functions, so the cost is equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace weft::bench {

/// Ordinary heap memory, as in an application: `count` different buffers of `size` bytes, every
/// page touched.
class heap_buffers {
 public:
  heap_buffers(std::size_t count, std::size_t size);

  /// Buffer `index`, below count().
  std::span<std::byte> operator[](std::size_t index) noexcept {
    return {memory_[index].get(), size_};
  }
  /// The buffers in turn. No division, so it may be within measured time.
  std::span<std::byte> next() noexcept {
    if (next_ == memory_.size()) next_ = 0;
    return (*this)[next_++];
  }
  std::size_t count() const noexcept { return memory_.size(); }

 private:
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::size_t size_;
  std::size_t next_ = 0;
};

/// Fills `buffer` with bytes that depend on place and `seed`.
void fill(std::span<std::byte> buffer, std::uint64_t seed) noexcept;

/// Throws std::runtime_error, naming the first wrong byte, unless `buffer` is as fill() left it
/// with `seed`. The first and last 8 bytes are left out: they belong to the stamp. Reads
/// everything: outside of measured time only.
void verify(std::span<const std::byte> buffer, std::uint64_t seed);

/// The bytes of a stamp at each end of a message.
constexpr std::size_t stamp_size = sizeof(std::uint64_t);

/// Throws the std::runtime_error of check_stamp.
[[noreturn]] void wrong_stamp(std::span<const std::byte> buffer, std::uint64_t expected);

/// Writes `sequence` into the first and the last 8 bytes; a message too short for both carries it
/// at its start only, as far as it fits. Two stores: cheap enough for every measured message.
inline void stamp(std::span<std::byte> buffer, std::uint64_t sequence) noexcept {
  const auto n = buffer.size();
  if (n >= stamp_size) {
    std::memcpy(buffer.data(), &sequence, stamp_size);
    if (n >= 2 * stamp_size) std::memcpy(buffer.data() + n - stamp_size, &sequence, stamp_size);
  } else if (n > 0) {
    std::memcpy(buffer.data(), &sequence, n);
  }
}

/// Throws std::runtime_error unless the message carries `sequence` as stamp() wrote it.
inline void check_stamp(std::span<const std::byte> buffer, std::uint64_t sequence) {
  const auto n = buffer.size();
  bool right =
      n == 0 || std::memcmp(buffer.data(), &sequence, n < stamp_size ? n : stamp_size) == 0;
  if (n >= 2 * stamp_size)
    right = right && std::memcmp(buffer.data() + n - stamp_size, &sequence, stamp_size) == 0;
  if (!right) wrong_stamp(buffer, sequence);
}

}  // namespace weft::bench
