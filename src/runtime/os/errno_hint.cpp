// SPDX-License-Identifier: Apache-2.0
#include "runtime/os/errno_hint.hpp"

#include <cerrno>
#include <cstring>

namespace weft::runtime {

const char* errno_hint(int code) noexcept {
  switch (code) {
    case EPERM:
    case EACCES:
      return "a container's seccomp profile or a sysctl forbids it; allow it there";
    case ENOSYS:
      return "a sandbox hides it, or the kernel lacks it; allow it, or use kernel 6.1 or later";
    case EMFILE:
      return "raise the limit on open files (ulimit -n)";
    case ENFILE:
      return "the whole system has too many open files; raise the sysctl fs.file-max";
    case ENOMEM:
    case ENOBUFS:
    case ENOSPC:
      return "raise the limit on memory or address space (ulimit -v, the container's)";
    default:
      return "nothing like it is known to weft; the call's manual page may tell";
  }
}

std::string describe_errno(int code) {
  const bool want = code == EMFILE || code == ENFILE || code == ENOMEM || code == ENOBUFS;
  return std::string(std::strerror(code)) + (want ? std::string("; ") + errno_hint(code) : "");
}

}  // namespace weft::runtime
