// SPDX-License-Identifier: Apache-2.0
// The cures for failed system calls, for the messages of errors.
#pragma once

#include <string>

namespace weft::runtime {

/// Half a sentence for people. \param code the errno of a call that makes an object
const char* errno_hint(int code) noexcept;

/// The failure, and its cure if it is a lack of descriptors or memory; for errors that can have
/// other reasons, too. \param code an errno
std::string describe_errno(int code);

}  // namespace weft::runtime
