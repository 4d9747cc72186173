// SPDX-License-Identifier: Apache-2.0
// A process with many contexts that connect and are then silent: the peers of scale.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "stage/stage.hpp"

namespace weft::bench {

/// Raises the limit of open files to what this process may have; each connection takes several.
void allow_many_files() noexcept;

/// The crowd's process, seen from its parent; ended with this object. One thread.
class crowd {
 public:
  /// Forks it; it stays on the core of this process. For a process with one thread and no context.
  /// \param contexts the number of contexts, each made when it connects
  crowd(std::size_t contexts, const settings& chosen);
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;
  ~crowd();

  /// Every context connects to `address`, one after the other; returns at once.
  void connect(const std::string& address);
  /// Every context sends a message to each peer that it has, and takes the answer; returns at once.
  void greet();
  /// Waits for the end of the last request. Throws std::runtime_error, with the crowd's text, if it
  /// failed.
  void wait();

 private:
  void ask(char what, const std::string& more);

  pid_t pid_ = -1;
  int line_ = -1;  // a socket: requests go out, answers come back
};

}  // namespace weft::bench
