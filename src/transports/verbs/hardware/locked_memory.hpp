// SPDX-License-Identifier: Apache-2.0
// Memory that a device uses cannot be swapped out, and the amount of it that a process may have is
// limited.
#pragma once

#include <string>

namespace weft::transports::verbs {

/// Half a sentence for people. \param code the errno of a failed call of libibverbs
std::string memlock_hint(int code);

}  // namespace weft::transports::verbs
