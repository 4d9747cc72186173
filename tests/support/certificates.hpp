// SPDX-License-Identifier: Apache-2.0
// Certificates for tests, made on the spot: none lies in the tree.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <weft/tls_files.hpp>

namespace weft::tests {

/// What a certificate is to say.
struct certificate_wish {
  std::string subject = "a test";
  std::string names = "DNS:localhost,IP:127.0.0.1";  // as OpenSSL's configuration has them
  long from = -3600, until = 3600;                   // seconds from now
  std::string use{};                                 // extendedKeyUsage; empty: any
};

/// Signs certificates. Its files lie in a folder that goes when it goes. Only where weft is built
/// with OpenSSL.
class authority {
 public:
  explicit authority(const std::string& name = "an authority");
  ~authority();
  authority(const authority&) = delete;
  authority& operator=(const authority&) = delete;

  /// A certificate, its key, and this authority's own certificate as the trusted one.
  tls_files issue(const certificate_wish& wish = {}) const;
  /// The same, with authorities between, whose certificates stand behind it.
  tls_files issue_below(int between, const certificate_wish& wish = {}) const;
  /// A key without a certificate: with a passphrase, and of RSA where the others are of a curve.
  std::string locked_key() const;
  std::string rsa_key() const;
  /// Its own certificate.
  std::string path() const { return folder_ / "authority.crt"; }
  const std::filesystem::path& folder() const noexcept { return folder_; }

 private:
  struct pair;
  std::filesystem::path folder_;
  std::unique_ptr<pair> own_;
  mutable int issued_ = 0;
};

/// A client of TLS 1.3 that has no certificate, by OpenSSL alone, on a connected socket that waits.
/// \return what OpenSSL says when it reads behind the handshake, which ends well for the client
std::string words_to_bare_client(int socket);

}  // namespace weft::tests
