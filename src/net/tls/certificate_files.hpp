// SPDX-License-Identifier: Apache-2.0
// Reads the files of a side that shows a certificate.
#pragma once

#include <weft/tls_files.hpp>

struct ssl_ctx_st;

namespace weft::net::tls {

/// Certificates that a side sends, in bytes: with the rest of its handshake they fit into what a
/// socket takes at once.
inline constexpr int most_own_bytes = 16 * 1024;

/// From now on sessions show that certificate, and take one of those authorities only.
/// \throws weft::error (invalid_argument, system) that names the file, and the variable
void use(ssl_ctx_st* by, const tls_files& files);

}  // namespace weft::net::tls
