// SPDX-License-Identifier: Apache-2.0
// What OpenSSL calls. Only the sources of this folder know OpenSSL's headers.
#pragma once

#include <openssl/ssl.h>

namespace weft::net::tls {

/// The socket of a stream, as a BIO without SIGPIPE, and the key of a stream.
struct callbacks {
  static int write(BIO* to, const char* from, std::size_t size, std::size_t* done) noexcept;
  static int read(BIO* from, char* into, std::size_t size, std::size_t* done) noexcept;
  static long control(BIO* of, int what, long number, void* more) noexcept;

  static int use_key(SSL* of, const EVP_MD* hash, const unsigned char** name, std::size_t* size,
                     SSL_SESSION** made) noexcept;
  static int find_key(SSL* of, const unsigned char* name, std::size_t size,
                      SSL_SESSION** made) noexcept;
};

}  // namespace weft::net::tls
