// SPDX-License-Identifier: Apache-2.0
#include "runtime/os/standard_error.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace weft::runtime {

void write_to_standard_error(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace weft::runtime
