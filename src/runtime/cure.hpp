// SPDX-License-Identifier: Apache-2.0
// What to do about a system call that failed, for the messages of errors.
#pragma once

namespace weft::runtime {

/// Half a sentence for people. \param code the errno of a call that makes something new
const char* cure_for(int code) noexcept;

}  // namespace weft::runtime
