// SPDX-License-Identifier: Apache-2.0
// The secret that the processes of a job share, and what is computed with it.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::wireup {

/// HMAC-SHA256 (RFC 2104, FIPS 180-4).
using digest = std::array<std::byte, 32>;

/// The HMAC of the pieces, one after the other. The caller separates pieces of variable length.
digest authenticate(std::span<const std::byte> key,
                    std::initializer_list<std::span<const std::byte>> pieces) noexcept;

/// A process that knows the key belongs to the job. A value; empty: there is no key, and no process
/// may connect over TCP.
class job_key {
 public:
  static constexpr std::size_t min_bytes = 16;
  static constexpr std::size_t max_bytes = 64;

  job_key() = default;

  /// 32 fresh bytes from the kernel. \throws weft::error (system)
  static job_key random();
  static job_key random(std::size_t bytes);

  /// A key of these bytes. The caller has checked the number of bytes.
  static job_key of(std::span<const std::byte> bytes);

  /// From hexadecimal digits; spaces and line ends around them are ignored.
  /// \param from what the text is called in messages: "WEFT_JOB_KEY"
  /// \throws weft::error (invalid_argument), which never repeats the text
  static job_key from_text(std::string_view text, std::string_view from);

  /// From a file that holds such digits and that only its owner may read.
  /// \throws weft::error (invalid_argument, system)
  static job_key from_file(const std::string& path);

  bool empty() const noexcept { return bytes_.empty(); }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// For the launcher's channel and for files only, never for messages.
  std::string to_text() const;

  /// As `authenticate`, with this key.
  digest sign(std::initializer_list<std::span<const std::byte>> pieces) const;

 private:
  std::vector<std::byte> bytes_;
};

/// Compares in a time that does not depend on where the two differ.
bool same(std::span<const std::byte> a, std::span<const std::byte> b) noexcept;

}  // namespace weft::wireup
