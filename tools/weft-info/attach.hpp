// SPDX-License-Identifier: Apache-2.0
// weft-info --attach: the dump of a running process.
#pragma once

#include <sys/types.h>

#include <string>

namespace weft::info {

/// The dumps of all contexts of a process, each as context::dump makes it there. The process goes
/// on; one that does not answer is not waited for long.
/// \throws std::runtime_error that says why there is none, and what to do
std::string dump_of(pid_t pid, bool as_json);

}  // namespace weft::info
