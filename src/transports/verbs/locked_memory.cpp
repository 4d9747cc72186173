// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/locked_memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>

#include "runtime/cure.hpp"

namespace weft::transports::verbs {

std::string cure_of(int code) {
  rlimit locked{};
  const bool limited =
      ::getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur != RLIM_INFINITY;
  if ((code == ENOMEM || code == EAGAIN || code == EPERM) && limited)
    return fmt::format(
        "this process may lock {} KiB of memory (ulimit -l); raise that: ulimit -l unlimited, "
        "LimitMEMLOCK=infinity of its service, or --ulimit memlock=-1 of its container",
        locked.rlim_cur / 1024);
  return runtime::cure_for(code);
}

}  // namespace weft::transports::verbs
