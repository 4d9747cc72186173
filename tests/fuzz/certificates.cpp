// SPDX-License-Identifier: Apache-2.0
// A certificate with arbitrary bytes, as a side shows it that nothing is known of yet: what is said
// of it is printable, each name has its kind in front, and no name has two meanings.
#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "net/tls/certificates.hpp"
#include "runtime/os/printable.hpp"
#include "target.hpp"

namespace weft::fuzz {

namespace {

struct release {
  void operator()(X509* what) const noexcept { X509_free(what); }
};

bool has_kind(const std::string& name) {
  return std::ranges::any_of(
      std::array<std::string_view, 4>{"DNS:", "IP:", "URI:", "email:"},
      [&](std::string_view kind) { return name.starts_with(kind) && name.size() > kind.size(); });
}

}  // namespace

void run(input in) {
  const auto* at = reinterpret_cast<const unsigned char*>(in.rest().data());
  const std::unique_ptr<X509, release> one(
      d2i_X509(nullptr, &at, static_cast<long>(in.rest().size())));
  if (one) {
    const peer_certificate said = net::tls::describe(one.get());
    check(runtime::printable(said.subject) == said.subject, "a subject is printable");
    for (const std::string& name : said.names) {
      check(has_kind(name), "a name has a kind");
      check(runtime::printable(name) == name, "a name is printable");
    }
    const std::string host = "localhost", authority = "a file";
    for (const long verdict : {long{X509_V_ERR_HOSTNAME_MISMATCH}, long{X509_V_ERR_CERT_REVOKED}}) {
      const std::string words =
          net::tls::words_of_failure(ERR_PACK(ERR_LIB_SSL, 0, SSL_R_CERTIFICATE_VERIFY_FAILED),
                                     {verdict, said, host, authority});
      check(!words.empty() && words.size() < 2048, "words are few");
    }
  }
  ERR_clear_error();
}

}  // namespace weft::fuzz
