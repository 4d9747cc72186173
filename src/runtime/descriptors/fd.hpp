// SPDX-License-Identifier: Apache-2.0
// Copies of file descriptors.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include <weft/error.hpp>
#include <weft/transport/unique_fd.hpp>

#include "runtime/descriptors/disposal.hpp"

namespace weft::runtime {

/// Another number for the same open file, close-on-exec.
/// \throws weft::error (system) when there is none left
inline unique_fd duplicate(int fd, std::shared_ptr<disposal> where = {}) {
  unique_fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0), std::move(where));
  if (!copy) throw error(errc::system, "no more file descriptors; raise `ulimit -n`");
  return copy;
}
/// It ends where the other one does.
inline unique_fd duplicate(const unique_fd& fd) { return duplicate(fd.get(), fd.ends_in()); }

}  // namespace weft::runtime
