// SPDX-License-Identifier: Apache-2.0
#include "net/tls/callbacks.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include "net/tls/certificates.hpp"
#include "net/tls/handshake.hpp"

namespace weft::net::tls {

namespace {

handshake& of_bio(BIO* b) noexcept { return *static_cast<handshake*>(BIO_get_data(b)); }
handshake& of_session(const SSL* s) noexcept {
  return *static_cast<handshake*>(SSL_get_app_data(s));
}

/// Null: no memory.
SSL_SESSION* session_with(SSL* of, const key& shared) noexcept {
  constexpr unsigned char suite[] = {0x13, 0x01};  // TLS_AES_128_GCM_SHA256
  SSL_SESSION* const made = SSL_SESSION_new();
  if (made && SSL_SESSION_set_protocol_version(made, TLS1_3_VERSION) == 1 &&
      SSL_SESSION_set_cipher(made, SSL_CIPHER_find(of, suite)) == 1 &&
      SSL_SESSION_set1_master_key(made, reinterpret_cast<const unsigned char*>(shared.data()),
                                  shared.size()) == 1)
    return made;
  SSL_SESSION_free(made);
  return nullptr;
}

}  // namespace

int callbacks::write(BIO* to, const char* from, std::size_t size, std::size_t* done) noexcept {
  const bool taken = of_bio(to).append(std::as_bytes(std::span(from, size)));
  *done = taken ? size : 0;
  return taken ? 1 : 0;
}

int callbacks::read(BIO* from, char* into, std::size_t size, std::size_t* done) noexcept {
  handshake& s = of_bio(from);
  const ssize_t n = s.receive(std::as_writable_bytes(std::span(into, size)));
  *done = n > 0 ? static_cast<std::size_t>(n) : 0;
  BIO_clear_retry_flags(from);
  if (s.is_empty_) BIO_set_retry_read(from);
  return n > 0 ? 1 : 0;
}

long callbacks::control(BIO* of, int what, long /*number*/, void* /*more*/) noexcept {
  if (what == BIO_CTRL_EOF) return of_bio(of).has_ended_ ? 1 : 0;
  return what == BIO_CTRL_FLUSH ? 1 : 0;
}

int callbacks::use_key(SSL* of, const EVP_MD* /*hash*/, const unsigned char** name,
                       std::size_t* size, SSL_SESSION** made) noexcept {
  const handshake& s = of_session(of);
  *name = reinterpret_cast<const unsigned char*>(s.name_.data());
  *size = s.name_.size();
  *made = session_with(of, s.shared_);
  return *made ? 1 : 0;
}

/// 0 ends the handshake at once: without the key it could only fail, and later.
int callbacks::find_key(SSL* of, const unsigned char* name, std::size_t size,
                        SSL_SESSION** made) noexcept {
  *made = nullptr;
  try {
    const auto found = of_session(of).find_(std::as_bytes(std::span(name, size)));
    if (found) *made = session_with(of, *found);
  } catch (const std::exception&) {
    // No memory: as if there were no such key.
  }
  return *made ? 1 : 0;
}

void callbacks::note_secret(const SSL* of, const char* line) noexcept {
  of_session(of).note_secret(line);
}

/// Notes a certificate that is refused, because OpenSSL forgets it. Changes no verdict.
int callbacks::note_certificate(int is_good, X509_STORE_CTX* of) noexcept {
  if (is_good == 1) return is_good;
  const auto* const session =
      static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(of, SSL_get_ex_data_X509_STORE_CTX_idx()));
  try {
    if (session) of_session(session).refused_ = describe(X509_STORE_CTX_get0_cert(of));
  } catch (const std::bad_alloc&) {
    // No memory: without its names.
  }
  return is_good;
}

}  // namespace weft::net::tls
