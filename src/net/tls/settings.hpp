// SPDX-License-Identifier: Apache-2.0
// What the streams of one owner have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <weft/tls_files.hpp>

struct ssl_ctx_st;
struct bio_method_st;

namespace weft::net::tls {

/// Without it no settings can be made.
bool is_built_in() noexcept;

/// "TLS 1.3, AES-128-GCM": what every stream speaks, for people.
std::string describe();

/// TLS 1.3 alone, with one suite of ciphers, a fresh X25519 exchange in each handshake, and both
/// ends authenticated: by a key that they share (RFC 8446, external PSK), or by certificates, and
/// never by either. No tickets, no resumption, no early data. Outlives the handshakes of its
/// streams. Constant, so any thread may use it.
class settings {
 public:
  /// Of full records under one traffic key RFC 8446 allows three times as many.
  static constexpr std::uint64_t usual_records_of_key = std::uint64_t{1} << 23;

  /// \param records_of_key a side that has sealed so many goes on with another traffic key
  /// \throws weft::error (unsupported) where it is not built in, (system) when OpenSSL refuses
  explicit settings(std::uint64_t records_of_key = usual_records_of_key);
  /// By certificates. The files are read here, once.
  /// \throws weft::error as above; (invalid_argument, system) that names the file
  explicit settings(tls_files files);
  ~settings();
  settings(const settings&) = delete;
  settings& operator=(const settings&) = delete;

 private:
  friend class handshake;
  friend class stream;
  struct release {
    void operator()(ssl_ctx_st* what) const noexcept;
    void operator()(bio_method_st* what) const noexcept;
  };
  void begin();

  const std::uint64_t records_of_key_;
  const tls_files files_;  // empty: by a key
  std::unique_ptr<bio_method_st, release> socket_;
  std::unique_ptr<ssl_ctx_st, release> shared_;
};

}  // namespace weft::net::tls
