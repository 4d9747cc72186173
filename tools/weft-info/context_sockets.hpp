// SPDX-License-Identifier: Apache-2.0
// The contexts of another process, by their sockets.
#pragma once

#include <sys/types.h>

#include <compare>
#include <string>
#include <vector>

namespace weft::info {

/// "process 12 (heat)".
std::string name_of_process(pid_t pid);

/// The letter for the state of a process, as ps shows it: T and t are stopped, Z has ended.
/// \return '?' if there is no such process
char state_of_process(pid_t pid);

/// The socket at which a context listens.
struct context_socket {
  std::string name;
  /// The folder of its file (WEFT_SOCKET_DIR), as its process sees it; empty: the name is abstract.
  std::string folder;
  friend auto operator<=>(const context_socket&, const context_socket&) = default;
};

/// The sockets at which the contexts of a process listen.
/// \throws std::runtime_error that says why it has none, or cannot be asked, and what to do
std::vector<context_socket> context_sockets_of(pid_t pid);

}  // namespace weft::info
