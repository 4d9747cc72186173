// SPDX-License-Identifier: Apache-2.0
#include "net/tls/certificates.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>

#include "runtime/os/printable.hpp"

namespace weft::net::tls {

namespace {

constexpr std::size_t most_of_subject = 512;
constexpr std::size_t most_named = 8;  // in an error

struct release {
  void operator()(BIO* what) const noexcept { BIO_free(what); }
  void operator()(GENERAL_NAMES* what) const noexcept { GENERAL_NAMES_free(what); }
};

std::string subject_of(const X509* one) {
  const std::unique_ptr<BIO, release> text(BIO_new(BIO_s_mem()));
  if (!text || X509_NAME_print_ex(text.get(), X509_get_subject_name(one), 0, XN_FLAG_RFC2253) < 0)
    return {};
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);
  return size <= 0 ? std::string()
                   : runtime::printable({bytes, static_cast<std::size_t>(size)}, most_of_subject);
}

std::string text_of_ip(const ASN1_OCTET_STRING* bytes) {
  const int size = ASN1_STRING_length(bytes);
  char text[INET6_ADDRSTRLEN] = {};
  if (size != 4 && size != 16) return {};
  ::inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(bytes), text, sizeof text);
  return text;
}

/// Without the kind; empty: not to be shown. A name with a zero inside looks like its beginning.
std::string text_of(const ASN1_IA5STRING* bytes) {
  const auto size = static_cast<std::size_t>(ASN1_STRING_length(bytes));
  const std::string_view text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(bytes)), size);
  return runtime::printable(text) == text ? std::string(text) : std::string();
}

std::string text_of(const GENERAL_NAME& name) {
  const char* kind = nullptr;
  std::string text;
  switch (name.type) {
    case GEN_DNS:
      kind = "DNS";
      text = text_of(name.d.dNSName);
      break;
    case GEN_IPADD:
      kind = "IP";
      text = text_of_ip(name.d.iPAddress);
      break;
    case GEN_URI:
      kind = "URI";
      text = text_of(name.d.uniformResourceIdentifier);
      break;
    case GEN_EMAIL:
      kind = "email";
      text = text_of(name.d.rfc822Name);
      break;
    default:
      return {};
  }
  return text.empty() ? text : fmt::format("{}:{}", kind, text);
}

std::string words_of_mismatch(const objection& o) {
  const auto names = std::span(o.shown.names).first(std::min(o.shown.names.size(), most_named));
  return fmt::format(
      "its certificate is not for '{}', but for {}; connect by a name or an address that is in it, "
      "or add this one to it (subjectAltName)",
      o.host,
      names.empty()
          ? "no name at all"
          : runtime::printable(fmt::format("{}", fmt::join(names, ", ")), most_of_subject));
}

}  // namespace

bool expect_host(ssl_st* of, const std::string& host) noexcept {
  X509_VERIFY_PARAM* const to_be = SSL_get0_param(of);
  // The common name is for people: anything may stand in it.
  X509_VERIFY_PARAM_set_hostflags(
      to_be, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (host.empty()) return false;
  if (X509_VERIFY_PARAM_set1_ip_asc(to_be, host.c_str()) == 1) return true;
  ERR_clear_error();
  return X509_VERIFY_PARAM_set1_host(to_be, host.data(), host.size()) == 1;
}

peer_certificate describe(const X509* one) {
  peer_certificate made{subject_of(one), {}};
  const std::unique_ptr<GENERAL_NAMES, release> all(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(one, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i)
    if (std::string text = text_of(*sk_GENERAL_NAME_value(all.get(), i)); !text.empty())
      made.names.push_back(std::move(text));
  return made;
}

std::string words_of_failure(unsigned long why, const objection& o) {
  const int reason = ERR_GET_REASON(why);
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
    return "it shows no certificate (WEFT_TLS_CERTIFICATE)";
  if (reason != SSL_R_CERTIFICATE_VERIFY_FAILED) {
    const char* const words = ERR_reason_error_string(why);
    return fmt::format("its handshake fails: {}", words ? words : "no memory");
  }
  switch (o.verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "its certificate, or that of an authority above it, has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "its certificate, or that of an authority above it, is not valid yet; compare the "
             "clocks of both hosts";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return words_of_mismatch(o);
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return fmt::format(
          "its certificate is of no authority in '{}' (WEFT_TLS_AUTHORITY); if there are "
          "authorities between the two, they belong behind its certificate",
          o.authority);
    case X509_V_ERR_INVALID_PURPOSE:
      return "its certificate is for another use: a listener's needs serverAuth, that of a side "
             "that connects clientAuth (extendedKeyUsage), or neither";
    default:
      return fmt::format("its certificate is refused: {}",
                         X509_verify_cert_error_string(o.verdict));
  }
}

std::string words_of_alert(int alert) {
  switch (alert) {
    case SSL_AD_UNKNOWN_CA:
      return "it does not know the authority of this side's certificate (WEFT_TLS_AUTHORITY there)";
    case SSL_AD_CERTIFICATE_EXPIRED:
      return "this side's certificate has expired (WEFT_TLS_CERTIFICATE)";
    case SSL_AD_CERTIFICATE_REQUIRED:
      return "it asks for a certificate, and this side has sent none (WEFT_TLS_CERTIFICATE)";
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
      return "this side's certificate is for another use (extendedKeyUsage)";
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
      return fmt::format("it does not take this side's certificate ({})",
                         SSL_alert_desc_string_long(alert));
    default:
      return fmt::format("it ends the handshake ({})", SSL_alert_desc_string_long(alert));
  }
}

}  // namespace weft::net::tls
