// SPDX-License-Identifier: Apache-2.0
// Memory that a device uses cannot be swapped out, and how much of it a process may have is
// limited.
#pragma once

#include <string>

namespace weft::transports::verbs {

/// Half a sentence for people. \param code the errno of a call of libibverbs that makes something
std::string memlock_hint(int code);

}  // namespace weft::transports::verbs
