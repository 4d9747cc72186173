// SPDX-License-Identifier: Apache-2.0
#include "api/core/replace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include <weft/error.hpp>

#include "runtime/descriptors/fd.hpp"
#include "runtime/os/errno_hint.hpp"
#include "runtime/os/held_back_signal.hpp"

namespace weft::detail {

namespace {

[[noreturn]] void fail(const std::string& file, int cause) {
  throw error(errc::system,
              fmt::format("{} cannot be written: {}", file, runtime::describe_errno(cause)));
}

void write_all(int fd, std::string_view text, const std::string& file) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(file, errno);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

void replace_file(const std::string& file, std::string_view text) {
  const std::string temporary = file + ".tmp";
  {
    const unique_fd fd(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd) fail(temporary, errno);
    runtime::held_back_signal too_large(SIGXFSZ);
    try {
      write_all(fd.get(), text, temporary);
    } catch (...) {
      too_large.drop();
      ::unlink(temporary.c_str());
      throw;
    }
  }
  if (std::rename(temporary.c_str(), file.c_str()) != 0) {
    const int cause = errno;
    ::unlink(temporary.c_str());
    fail(file, cause);
  }
}

}  // namespace weft::detail
