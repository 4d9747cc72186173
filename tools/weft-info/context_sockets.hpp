// SPDX-License-Identifier: Apache-2.0
// The contexts of another process, by their sockets.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace weft::info {

/// "process 12 (heat)".
std::string name_of_process(pid_t pid);

/// The letter for the state of a process, as ps shows it: T and t are stopped, Z has ended.
/// \return '?' if there is no such process
char state_of_process(pid_t pid);

/// The names of the sockets at which the contexts of a process listen.
/// \throws std::runtime_error that says why it has none, or cannot be asked, and what to do
std::vector<std::string> context_sockets_of(pid_t pid);

}  // namespace weft::info
