// SPDX-License-Identifier: Apache-2.0
#include "net/tls/settings.hpp"

#include <fmt/format.h>
#include <openssl/err.h>

#include <utility>

#include <weft/error.hpp>

#include "net/tls/callbacks.hpp"
#include "net/tls/certificate_files.hpp"

namespace weft::net::tls {

namespace {

[[noreturn]] void refuse(const char* what) {
  const char* const why = ERR_reason_error_string(ERR_peek_last_error());
  error e(errc::system, fmt::format("OpenSSL refuses {}: {}", what, why ? why : "no memory"));
  ERR_clear_error();
  throw e;
}

}  // namespace

bool is_built_in() noexcept { return true; }

std::string describe() { return "TLS 1.3, AES-128-GCM"; }

void settings::release::operator()(ssl_ctx_st* what) const noexcept { SSL_CTX_free(what); }
void settings::release::operator()(bio_method_st* what) const noexcept { BIO_meth_free(what); }

settings::settings(std::uint64_t records_of_key) : records_of_key_(records_of_key) {
  begin();
  SSL_CTX_set_psk_use_session_callback(shared_.get(), callbacks::use_key);
  SSL_CTX_set_psk_find_session_callback(shared_.get(), callbacks::find_key);
}

settings::settings(tls_files files)
    : records_of_key_(usual_records_of_key), files_(std::move(files)) {
  begin();
  use(shared_.get(), files_);
}

void settings::begin() {
  // A thread may still use a stream when the process ends: OpenSSL's memory is left to the system.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
  socket_.reset(BIO_meth_new(BIO_TYPE_SOURCE_SINK, "socket of weft"));
  shared_.reset(SSL_CTX_new(TLS_method()));
  if (!socket_ || !shared_) refuse("to begin");
  BIO_meth_set_write_ex(socket_.get(), callbacks::write);
  BIO_meth_set_read_ex(socket_.get(), callbacks::read);
  BIO_meth_set_ctrl(socket_.get(), callbacks::control);

  SSL_CTX* const all = shared_.get();
  // A session of an external key brings its hash along, so there is one suite.
  if (SSL_CTX_set_min_proto_version(all, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(all, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(all, "TLS_AES_128_GCM_SHA256") != 1 ||
      SSL_CTX_set1_groups_list(all, "X25519") != 1)
    refuse("TLS 1.3 with AES-128-GCM and X25519");
  SSL_CTX_set_options(all, SSL_OP_NO_COMPRESSION);
  SSL_CTX_clear_options(all, SSL_OP_ENABLE_MIDDLEBOX_COMPAT | SSL_OP_ALLOW_NO_DHE_KEX);
  SSL_CTX_set_session_cache_mode(all, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(all, 0);
  SSL_CTX_set_keylog_callback(all, callbacks::note_secret);  // never leaves the process
}

settings::~settings() = default;

}  // namespace weft::net::tls
