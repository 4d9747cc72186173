// SPDX-License-Identifier: Apache-2.0
// What to do about a system call that failed, for the messages of errors.
#pragma once

#include <string>

namespace weft::runtime {

/// Half a sentence for people. \param code the errno of a call that makes something new
const char* errno_hint(int code) noexcept;

/// What happened, and the cure if it was want of descriptors or memory; for errors that can have
/// other reasons, too. \param code an errno
std::string describe_errno(int code);

}  // namespace weft::runtime
