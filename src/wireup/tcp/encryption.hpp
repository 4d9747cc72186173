// SPDX-License-Identifier: Apache-2.0
// Which connections of the control plane are encrypted.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "net/tls/stream.hpp"
#include "net/tls_agreement.hpp"
#include "runtime/descriptors/fd.hpp"
#include "wireup/auth/introduction.hpp"
#include "wireup/auth/job_key.hpp"

namespace weft::wireup {

/// One for a context. Any thread.
class encryption {
 public:
  explicit encryption(tcp_encryption setting) noexcept : setting_(setting) {}

  /// What this side says of that connected socket.
  net::tls::stance of(int socket) const noexcept { return net::tls::stance_of(setting_, socket); }

  /// WEFT_TCP_TLS=no: what is not encrypted needs no certificate either.
  bool is_off() const noexcept { return setting_ == tcp_encryption::no; }

  /// Made by the first connection that is encrypted: a job of one host needs none of OpenSSL.
  /// \throws weft::error
  const net::tls::settings& settings() {
    std::call_once(once_, [this] { made_.emplace(); });
    return *made_;
  }

  /// A handshake did not end well, and the other side did not break it off.
  void note_failure() noexcept { failed_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

 private:
  const tcp_encryption setting_;
  std::once_flag once_;
  std::optional<net::tls::settings> made_;
  std::atomic<std::uint64_t> failed_{0};
};

/// A connection whose other end has proven that it may speak.
struct proven_socket {
  unique_fd fd;
  admission known{};                           ///< what the medium knows of both ends
  std::unique_ptr<net::tls::stream> sealed{};  ///< null: in clear

  /// By which it has proven it; null: by the job's key, or the kernel vouches for its user.
  std::shared_ptr<const peer_certificate> certificate() const {
    return sealed ? sealed->certificate() : nullptr;
  }
};

/// By what two ends of a TCP connection know each other.
struct tcp_proof {
  tcp_proof(job_key k = {}, std::shared_ptr<const net::tls::settings> c = {})  // NOLINT: implicit
      : key(std::move(k)), certificates(std::move(c)) {}
  bool is_there() const noexcept { return certificates || !key.empty(); }

  job_key key;
  std::shared_ptr<const net::tls::settings> certificates;  ///< in place of the key; null: none
};

}  // namespace weft::wireup
