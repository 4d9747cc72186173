// SPDX-License-Identifier: Apache-2.0
// tls_files, peer_certificate: services that have no job key in common know each other by X.509
// certificates.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace weft {

/// The files by which a side of a connection shows who it is, and knows whom to trust, at addresses
/// `tcp://host:port`. Both sides show a certificate (mutual TLS 1.3). Each is checked against the
/// other side's authorities, and by the side that connects also against the host in the address:
/// that name or IP address has to be in the certificate of the listener, as a subject alternative
/// name. All three files are needed; they are PEM. Revocation is not checked: let certificates live
/// shortly. docs/security.md, "Certificates"
///
///     auto listening = co_await ctx.listen("tcp://0.0.0.0:7000",
///                                     {"service.crt", "service.key", "authority.crt"});
///     // elsewhere
///     auto service = co_await ctx.connect("tcp://service.example:7000", {},
///                                         {"client.crt", "client.key", "authority.crt"});
struct tls_files {
  tls_files() = default;  ///< none
  // A structure without constructors inside of a co_await is destroyed twice by g++ 12.
  tls_files(std::string own, std::string key_of_it, std::string trusted)
      : certificate(std::move(own)), key(std::move(key_of_it)), authority(std::move(trusted)) {}

  /// The certificate of this side, and behind it those of the authorities between it and one that
  /// the other side trusts. 16 KiB of certificates at most.
  std::string certificate;
  /// Its private key, without a passphrase. A file that all users may read is refused.
  std::string key;
  /// The certificates of those authorities of which this side takes a certificate, one or several.
  /// Those of the system count only if their file is named here.
  std::string authority;

  /// There are none: the job's key decides who may connect.
  bool empty() const noexcept { return certificate.empty() && key.empty() && authority.empty(); }
};

/// Who the other side of a connection is, by its certificate, which has been checked.
struct peer_certificate {
  /// As RFC 2253 writes it: "CN=billing,O=Example".
  std::string subject = {};
  /// Its subject alternative names, with their kinds in front: "DNS:billing.example",
  /// "IP:10.0.3.7", "URI:spiffe://example/billing", "email:ops@example". Names with characters that
  /// are not printable ASCII, and other kinds of names, are left out.
  std::vector<std::string> names = {};
};

}  // namespace weft
