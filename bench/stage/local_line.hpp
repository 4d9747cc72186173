// SPDX-License-Identifier: Apache-2.0
// A Unix socket between the two sides, if they are on one host.
#pragma once

#include "runtime/descriptors/fd.hpp"
#include "support/pair.hpp"

namespace weft::bench {

/// Both sides call it. \param type SOCK_STREAM or SOCK_SEQPACKET
/// \return connected to the other side; none on both: they share no network namespace
/// \throws std::system_error, std::runtime_error
unique_fd local_line(pair_member& member, int type);

}  // namespace weft::bench
