// SPDX-License-Identifier: Apache-2.0
// What OpenSSL calls of a handshake.
#pragma once

#include <openssl/ssl.h>

namespace weft::net::tls {

/// Its socket, as a BIO without SIGPIPE, its key, and the secrets that it agrees on.
struct callbacks {
  static int write(BIO* to, const char* from, std::size_t size, std::size_t* done) noexcept;
  static int read(BIO* from, char* into, std::size_t size, std::size_t* done) noexcept;
  static long control(BIO* of, int what, long number, void* more) noexcept;

  static int use_key(SSL* of, const EVP_MD* hash, const unsigned char** name, std::size_t* size,
                     SSL_SESSION** made) noexcept;
  static int find_key(SSL* of, const unsigned char* name, std::size_t size,
                      SSL_SESSION** made) noexcept;
  static void note_secret(const SSL* of, const char* line) noexcept;
  static int note_certificate(int is_good, X509_STORE_CTX* of) noexcept;
};

}  // namespace weft::net::tls
