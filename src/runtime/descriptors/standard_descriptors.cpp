// SPDX-License-Identifier: Apache-2.0
#include "runtime/descriptors/standard_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace weft::runtime {

void fill_standard_descriptors(const char* path, int flags) noexcept {
  int fd = 0;
  do {
    fd = ::open(path, flags);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

void keep_standard_numbers() noexcept { fill_standard_descriptors("/", O_PATH | O_CLOEXEC); }

}  // namespace weft::runtime
