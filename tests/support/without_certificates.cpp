// SPDX-License-Identifier: Apache-2.0
// In place of certificates.cpp, where weft is built without OpenSSL: tests skip before.
#include <stdexcept>

#include "support/certificates.hpp"

namespace weft::tests {

struct authority::pair {};

authority::authority(const std::string&) { throw std::logic_error("built without OpenSSL"); }
authority::~authority() = default;
tls_files authority::issue(const certificate_wish&) const { return {}; }
tls_files authority::issue_below(int, const certificate_wish&) const { return {}; }
std::string authority::locked_key() const { return {}; }
std::string authority::rsa_key() const { return {}; }
std::string words_to_bare_client(int) { return {}; }

}  // namespace weft::tests
