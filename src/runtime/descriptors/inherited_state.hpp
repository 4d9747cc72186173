// SPDX-License-Identifier: Apache-2.0
// What a program inherits from the process that started it.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <array>

namespace weft::runtime {

/// Made first in the main function of a program that starts others. A parent may have closed the
/// descriptors 0 to 2, which the next files would get, and may ignore SIGCHLD: then the kernel
/// forgets how a child ended, and waiting for it fails. Both are mended here. What this program
/// changes, here and later on, is not for the programs that it starts: they get back what this one
/// was given.
class inherited_state {
 public:
  inherited_state() noexcept;
  inherited_state(const inherited_state&) = delete;
  inherited_state& operator=(const inherited_state&) = delete;

  /// Between fork and exec: the signal mask, what is done with the signals that weft's programs
  /// ignore or need, and the limit on open files. Only calls that are safe there.
  void give_back() const noexcept;

 private:
  static constexpr std::array<int, 3> signals{SIGCHLD, SIGPIPE, SIGXFSZ};

  std::array<struct sigaction, signals.size()> actions_{};
  sigset_t mask_{};
  rlimit files_{};
};

}  // namespace weft::runtime
