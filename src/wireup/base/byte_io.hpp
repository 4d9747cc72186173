// SPDX-License-Identifier: Apache-2.0
// Writes and reads little-endian fields. A reader checks every length.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "wireup/base/identity.hpp"

namespace weft::wireup {

inline std::span<const std::byte> text_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// Appends fields to a vector that it owns until `take`. A plain value.
class byte_writer {
 public:
  template <class T>
    requires std::is_unsigned_v<T>
  byte_writer& put(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes_.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
    return *this;
  }

  byte_writer& put(const context_id& id) { return put(id.words[0]).put(id.words[1]); }

  template <std::size_t N>
  byte_writer& put(const std::array<std::byte, N>& as_they_are) {
    bytes_.insert(bytes_.end(), as_they_are.begin(), as_they_are.end());
    return *this;
  }

  /// A 16-bit length and that many bytes. The caller has checked that the text is short enough.
  byte_writer& put(std::string_view text) {
    put(static_cast<std::uint16_t>(text.size()));
    for (char c : text) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads fields from bytes that the caller owns. After the first missing field every read gives
/// zero and `complete` is false, so one check at the end is enough.
class byte_reader {
 public:
  explicit byte_reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
    requires std::is_unsigned_v<T>
  T get() {
    T value = 0;
    std::span<const std::byte> field = cut(sizeof(T));
    for (std::size_t i = 0; i < field.size(); ++i)
      value = static_cast<T>(value | static_cast<T>(static_cast<T>(field[i]) << (8 * i)));
    return value;
  }

  context_id get_id() {
    context_id id;
    id.words[0] = get<std::uint64_t>();
    id.words[1] = get<std::uint64_t>();
    return id;
  }

  template <std::size_t N>
  std::array<std::byte, N> get_bytes() {
    std::array<std::byte, N> bytes{};
    std::ranges::copy(cut(N), bytes.begin());
    return bytes;
  }

  /// A text of at most `most` bytes; a longer one makes all further reads fail.
  std::string get_text(std::size_t most) {
    const std::size_t length = get<std::uint16_t>();
    if (length > most) failed_ = true;
    std::span<const std::byte> field = cut(length);
    return {reinterpret_cast<const char*>(field.data()), field.size()};
  }

  /// All fields were there, and no byte is left.
  bool complete() const { return !failed_ && rest_.empty(); }

 private:
  std::span<const std::byte> cut(std::size_t n) {
    if (failed_ || n > rest_.size()) {
      failed_ = true;
      return {};
    }
    std::span<const std::byte> field = rest_.first(n);
    rest_ = rest_.subspan(n);
    return field;
  }

  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace weft::wireup
