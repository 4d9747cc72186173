// SPDX-License-Identifier: Apache-2.0
#include "support/certificates.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstdio>
#include <stdexcept>

namespace weft::tests {

namespace {

struct release {
  void operator()(EVP_PKEY* what) const { EVP_PKEY_free(what); }
  void operator()(X509* what) const { X509_free(what); }
  void operator()(X509_EXTENSION* what) const { X509_EXTENSION_free(what); }
  void operator()(SSL_CTX* what) const { SSL_CTX_free(what); }
  void operator()(SSL* what) const { SSL_free(what); }
  void operator()(std::FILE* what) const { std::fclose(what); }
};
template <class T>
using owned = std::unique_ptr<T, release>;

void must(bool well, const char* what) {
  if (!well) throw std::runtime_error(std::string("OpenSSL refuses ") + what);
}

owned<EVP_PKEY> new_key() {
  owned<EVP_PKEY> made(EVP_EC_gen("P-256"));
  must(made != nullptr, "a key");
  return made;
}

void extend(X509* one, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX at;
  X509V3_set_ctx(&at, issuer, one, nullptr, nullptr, 0);
  const owned<X509_EXTENSION> made(X509V3_EXT_conf_nid(nullptr, &at, kind, value.c_str()));
  must(made && X509_add_ext(one, made.get(), -1) == 1, value.c_str());
}

/// By their keys: authorities of tests may have the same name.
void identify(X509* one, X509* issuer) {
  extend(one, issuer, NID_subject_key_identifier, "hash");
  extend(one, issuer, NID_authority_key_identifier, "keyid");
}

owned<X509> new_certificate(const certificate_wish& wish, EVP_PKEY* of) {
  static long serial = 1;
  owned<X509> made(X509_new());
  must(made && X509_set_version(made.get(), X509_VERSION_3) == 1, "a certificate");
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), wish.from);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), wish.until);
  X509_set_pubkey(made.get(), of);
  const auto* const name = reinterpret_cast<const unsigned char*>(wish.subject.c_str());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8, name, -1, -1,
                             0);
  return made;
}

owned<std::FILE> file(const std::filesystem::path& at) {
  owned<std::FILE> opened(std::fopen(at.c_str(), "w"));
  if (!opened) throw std::runtime_error("no file for a test's certificate");
  return opened;
}

void write_key(const std::string& at, EVP_PKEY* key, std::string passphrase = {}) {
  const bool is_locked = !passphrase.empty();
  must(PEM_write_PrivateKey(file(at).get(), key, is_locked ? EVP_aes_128_cbc() : nullptr, nullptr,
                            0, nullptr, is_locked ? passphrase.data() : nullptr) == 1,
       "to write");
  ::chmod(at.c_str(), S_IRUSR | S_IWUSR);
}

}  // namespace

struct authority::pair {
  /// \param by null: by itself
  pair(const std::string& name, const pair* by) : key(new_key()) {
    certificate = new_certificate({.subject = name, .names = {}}, key.get());
    const pair& issuer = by ? *by : *this;
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.certificate.get()));
    extend(certificate.get(), issuer.certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
    extend(certificate.get(), issuer.certificate.get(), NID_key_usage, "critical,keyCertSign");
    identify(certificate.get(), issuer.certificate.get());
    must(X509_sign(certificate.get(), issuer.key.get(), EVP_sha256()) != 0, "a signature");
  }
  owned<X509> sign(const certificate_wish& wish, EVP_PKEY* of) const {
    owned<X509> made = new_certificate(wish, of);
    X509_set_issuer_name(made.get(), X509_get_subject_name(certificate.get()));
    if (!wish.names.empty())
      extend(made.get(), certificate.get(), NID_subject_alt_name, wish.names);
    if (!wish.use.empty()) extend(made.get(), certificate.get(), NID_ext_key_usage, wish.use);
    identify(made.get(), certificate.get());
    must(X509_sign(made.get(), key.get(), EVP_sha256()) != 0, "a signature");
    return made;
  }

  owned<EVP_PKEY> key;
  owned<X509> certificate;
};

authority::authority(const std::string& name) : own_(std::make_unique<pair>(name, nullptr)) {
  std::string made = std::filesystem::temp_directory_path() / "weft-certificates-XXXXXX";
  if (!::mkdtemp(made.data())) throw std::runtime_error("no folder for a test's certificates");
  folder_ = made;
  must(PEM_write_X509(file(path()).get(), own_->certificate.get()) == 1, "to write");
}

authority::~authority() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

tls_files authority::issue(const certificate_wish& wish) const { return issue_below(0, wish); }

tls_files authority::issue_below(int between, const certificate_wish& wish) const {
  std::vector<std::unique_ptr<pair>> line;  // the one next to the root first
  for (int n = 0; n != between; ++n)
    line.push_back(std::make_unique<pair>("between " + std::to_string(n),
                                          line.empty() ? own_.get() : line.back().get()));
  const owned<EVP_PKEY> key = new_key();
  const owned<X509> made = (line.empty() ? *own_ : *line.back()).sign(wish, key.get());
  const std::string place = folder_ / std::to_string(++issued_);
  {
    const owned<std::FILE> out = file(place + ".crt");
    must(PEM_write_X509(out.get(), made.get()) == 1, "to write");
    for (auto one = line.rbegin(); one != line.rend(); ++one)
      must(PEM_write_X509(out.get(), (*one)->certificate.get()) == 1, "to write");
  }
  write_key(place + ".key", key.get());
  return {place + ".crt", place + ".key", path()};
}

std::string authority::locked_key() const {
  const std::string place = folder_ / "locked.key";
  write_key(place, new_key().get(), "a passphrase");
  return place;
}

std::string authority::rsa_key() const {
  const std::string place = folder_ / "rsa.key";
  const owned<EVP_PKEY> key(EVP_RSA_gen(2048));
  must(key != nullptr, "a key");
  write_key(place, key.get());
  return place;
}

std::string words_to_bare_client(int socket) {
  ERR_clear_error();
  const owned<SSL_CTX> all(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_min_proto_version(all.get(), TLS1_3_VERSION);
  const owned<SSL> one(SSL_new(all.get()));
  SSL_set_fd(one.get(), socket);
  if (SSL_connect(one.get()) != 1) return "the handshake fails";
  char byte = 0;
  if (SSL_read(one.get(), &byte, 1) == 1) return "it is let in";
  const char* const words = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return words ? words : "it is cut off";
}

}  // namespace weft::tests
