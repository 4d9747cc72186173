// SPDX-License-Identifier: Apache-2.0
// tcp_encryption: which connections over TCP are encrypted.
#pragma once

namespace weft {

/// Which connections over TCP are encrypted, by TLS 1.3; all others are authenticated when they are
/// made, and then in clear. Both ends have to agree, else there is no connection, and the error
/// names both values. docs/security.md
enum class tcp_encryption {
  automatic,  ///< those to other hosts, if weft is built with OpenSSL, else none
  yes,        ///< all; an error if weft is built without OpenSSL
  no
};

}  // namespace weft
