// SPDX-License-Identifier: Apache-2.0
// The other side's certificate: whom it is to be for, whom it is for, and what is wrong with it.
#pragma once

#include <string>

#include <weft/tls_files.hpp>

struct ssl_st;
struct x509_st;

namespace weft::net::tls {

/// A certificate that is not for this host is refused. \param host a name, or a numeric address
/// \return false: no memory, or it is neither
bool expect_host(ssl_st* of, const std::string& host) noexcept;

/// \throws std::bad_alloc
peer_certificate describe(const x509_st* one);

/// What this side has against a certificate.
struct objection {
  long verdict;                   ///< as OpenSSL has it
  const peer_certificate& shown;  ///< by the other side
  const std::string& host;        ///< that was expected; empty: any
  const std::string& authority;   ///< the file of those that are trusted
};

/// Why the handshake has failed, for people: what is wrong with the other side's certificate, and
/// the cure. \param why as OpenSSL has it \param o counts if a certificate is what is wrong
/// \throws std::bad_alloc
std::string words_of_failure(unsigned long why, const objection& o);

/// What the other side says is wrong with this side's certificate. \throws std::bad_alloc
std::string words_of_alert(int alert);

}  // namespace weft::net::tls
