// SPDX-License-Identifier: Apache-2.0
// Seals and opens the records of one direction of a TLS connection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "net/tls/handshake.hpp"

struct evp_cipher_ctx_st;

namespace weft::net::tls {

/// What is in a record (RFC 8446, 5.1).
enum class content : std::uint8_t { alert = 21, handshake = 22, data = 23 };

inline constexpr std::size_t record_header = 5;
inline constexpr std::size_t record_tag = 16;
/// What a record has more than its content: header, kind, tag.
inline constexpr std::size_t record_overhead = record_header + 1 + record_tag;
/// The most content of a record, and what may stand behind its header.
inline constexpr std::size_t most_content = 16 * 1024;
inline constexpr std::size_t most_record = most_content + 256;

/// AES-128-GCM with the key, and the number of each record as its nonce: they are opened in the
/// order in which they were sealed, each once. Not for several threads.
class traffic_key {
 public:
  enum class way : bool { seals, opens };

  /// \param secret of that direction, from the handshake \throws weft::error (out_of_memory)
  traffic_key(way w, const key& secret);
  ~traffic_key();
  traffic_key(const traffic_key&) = delete;
  traffic_key& operator=(const traffic_key&) = delete;

  /// \param what at most most_content \param into what.size() + record_overhead bytes
  /// \return false: OpenSSL has no memory
  bool seal(content kind, std::span<const std::byte> what, std::byte* into) noexcept;

  /// \param record whole, with its header \param into record.size() - record_header - record_tag
  /// bytes, which may be those of the record: its content, kind and padding. They hold anything
  /// if it is not authentic. \return whether it is
  bool open(std::span<const std::byte> record, std::byte* into) noexcept;

  /// Goes on with the next key. \return false: OpenSSL has no memory
  bool renew() noexcept;

  std::uint64_t records() const noexcept { return records_; }  ///< under this key

 private:
  struct release {
    void operator()(evp_cipher_ctx_st* what) const noexcept;
  };

  bool set() noexcept;
  std::array<unsigned char, 12> next_nonce() noexcept;

  const way way_;
  key secret_;
  std::array<unsigned char, 12> mask_{};
  std::uint64_t records_ = 0;
  std::unique_ptr<evp_cipher_ctx_st, release> cipher_;
};

}  // namespace weft::net::tls
