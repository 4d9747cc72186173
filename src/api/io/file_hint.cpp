// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "api/io/file_state.hpp"

namespace weft::detail {

const char* file_hint(int code) noexcept {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      return "check the path, and make its folders first; a relative one begins at the working "
             "directory";
    case EACCES:
    case EPERM:
      return "give this user the permission for the file and for the folders above it";
    case EEXIST:
      return "remove it, or open it without O_EXCL";
    case EISDIR:
      return "name a file in that folder";
    case EROFS:
      return "its file system is mounted read-only; use another one";
    case ETXTBSY:
      return "it is a program that runs; write another file and rename it";
    case EMFILE:
      return "raise the limit on open files (ulimit -n)";
    case ENFILE:
      return "the whole system has too many open files; raise the sysctl fs.file-max";
    case ENOSPC:
      return "free some space on its device";
    case EDQUOT:
      return "free some space, or raise this user's quota";
    case EFBIG:
      return "the offset is beyond what the file system, or the limit on files (ulimit -f), allows";
    case ENXIO:
      return "a FIFO needs a reader first, and a socket cannot be opened";
    case ELOOP:
      return "a symbolic link leads back to itself; remove it";
    case ENAMETOOLONG:
      return "shorten the name";
    case EBADF:
      return "the descriptor is not open for that: open it with O_RDONLY, O_WRONLY or O_RDWR "
             "accordingly, and close it after the operation has ended";
    case EINVAL:
      return "the flags, the offset, or the alignment that O_DIRECT needs are not valid for it";
    case ESPIPE:
      return "pipes, sockets and terminals have no offsets; use read_some and write_all";
    case EPIPE:
      return "no process reads the other end any more";
    case ENOMEM:
      return "raise the limit on memory";
    case EIO:
      return "the device failed, see the kernel's log; or the terminal has gone";
    default:
      return "";
  }
}

std::string explain_failure(const std::string& what, int code) {
  const char* const cure = file_hint(code);
  return fmt::format("{}: {}{}{}", what, std::strerror(code), *cure ? "; " : "", cure);
}

}  // namespace weft::detail
