// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/hardware/locked_memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>

#include "runtime/os/errno_hint.hpp"

namespace weft::transports::verbs {

std::string memlock_hint(int code) {
  rlimit locked{};
  const bool limited =
      ::getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur != RLIM_INFINITY;
  if ((code == ENOMEM || code == EAGAIN || code == EPERM) && limited)
    return fmt::format(
        "this process may lock {} KiB of memory (ulimit -l); raise that: ulimit -l unlimited, "
        "LimitMEMLOCK=infinity of its service, or --ulimit memlock=-1 of its container",
        locked.rlim_cur / 1024);
  return runtime::errno_hint(code);
}

}  // namespace weft::transports::verbs
