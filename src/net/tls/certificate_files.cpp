// SPDX-License-Identifier: Apache-2.0
#include "net/tls/certificate_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <weft/error.hpp>

#include "net/tls/callbacks.hpp"
#include "runtime/descriptors/fd.hpp"

namespace weft::net::tls {

namespace {

// Chains of a service are short, and each link costs a check of a signature.
constexpr int most_authorities = 8;

struct named_file {
  const char* what;      // as a user would call it
  const char* variable;  // where it is named
  const std::string& path;
};

[[noreturn]] void refuse(const named_file& file, const std::string& why) {
  ERR_clear_error();
  throw error(errc::invalid_argument, fmt::format("the {} in '{}' ({}) cannot be used: {}",
                                                  file.what, file.path, file.variable, why));
}

/// With OpenSSL's words for what it has found last.
[[noreturn]] void refuse_as_openssl(const named_file& file, const char* expected) {
  const char* const why = ERR_reason_error_string(ERR_peek_last_error());
  refuse(file, fmt::format("{} ({})", expected, why ? why : "no memory"));
}

void check_named(const named_file& file) {
  if (file.path.empty())
    throw error(errc::invalid_argument,
                fmt::format("the {} is missing ({}): a side with certificates needs its own, the "
                            "key of it, and those of the authorities that it trusts",
                            file.what, file.variable));
}

/// OpenSSL would say less, and would wait at a pipe.
void check(const named_file& file, mode_t forbidden = 0) {
  const unique_fd opened(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  if (!opened || ::fstat(opened.get(), &about) != 0)
    throw error(errc::system, fmt::format("the {} in '{}' ({}) cannot be read: {}", file.what,
                                          file.path, file.variable, std::strerror(errno)));
  if (!S_ISREG(about.st_mode)) refuse(file, "it is no file");
  if ((about.st_mode & forbidden) != 0)
    refuse(file, fmt::format("all users may read it; run chmod o= {}", file.path));
}

int no_passphrase(char*, int, int, void*) { return -1; }

int bytes_of(X509* one) { return std::max(0, i2d_X509(one, nullptr)); }

void use_certificate(SSL_CTX* by, const named_file& file) {
  if (SSL_CTX_use_certificate_chain_file(by, file.path.c_str()) != 1)
    refuse_as_openssl(file, "it holds none in PEM form");
  X509* const own = SSL_CTX_get0_certificate(by);
  if (X509_cmp_current_time(X509_get0_notAfter(own)) < 0) refuse(file, "it has expired");
  STACK_OF(X509)* behind = nullptr;
  SSL_CTX_get0_chain_certs(by, &behind);
  int bytes = bytes_of(own);
  for (int i = 0; i < sk_X509_num(behind); ++i) bytes += bytes_of(sk_X509_value(behind, i));
  if (bytes > most_own_bytes)
    refuse(file,
           fmt::format("with those behind it, it has {} bytes; at most {}", bytes, most_own_bytes));
}

void use_key(SSL_CTX* by, const named_file& file, const named_file& of) {
  const X509* const shown = SSL_CTX_get0_certificate(by);  // before: a key may be of another kind
  SSL_CTX_set_default_passwd_cb(by, no_passphrase);
  const bool is_used = SSL_CTX_use_PrivateKey_file(by, file.path.c_str(), SSL_FILETYPE_PEM) == 1;
  const bool fits = is_used && X509_check_private_key(shown, SSL_CTX_get0_privatekey(by)) == 1;
  if (fits) return;
  if (is_used || ERR_GET_LIB(ERR_peek_last_error()) == ERR_LIB_X509)
    refuse(file, fmt::format("it is not the key of the certificate in '{}'", of.path));
  refuse_as_openssl(file, "it holds none in PEM form, or one with a passphrase");
}

}  // namespace

void use(ssl_ctx_st* by, const tls_files& files) {
  const named_file own{"certificate", "WEFT_TLS_CERTIFICATE", files.certificate};
  const named_file key{"private key", "WEFT_TLS_KEY", files.key};
  const named_file authority{"authorities' certificates", "WEFT_TLS_AUTHORITY", files.authority};
  for (const named_file* file : {&own, &key, &authority}) check_named(*file);
  check(own);
  check(key, S_IRWXO);
  check(authority);
  ERR_clear_error();
  use_certificate(by, own);
  use_key(by, key, own);
  if (SSL_CTX_load_verify_file(by, authority.path.c_str()) != 1)
    refuse_as_openssl(authority, "it holds none in PEM form");
  SSL_CTX_set_verify(by, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     callbacks::note_certificate);
  SSL_CTX_set_verify_depth(by, most_authorities);
  SSL_CTX_set_mode(by, SSL_MODE_NO_AUTO_CHAIN);  // sends what is in the file, no more
}

}  // namespace weft::net::tls
