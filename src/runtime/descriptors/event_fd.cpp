// SPDX-License-Identifier: Apache-2.0
#include "runtime/descriptors/event_fd.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <weft/error.hpp>

#include "runtime/os/errno_hint.hpp"

namespace weft::runtime {

event_fd::event_fd() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!fd_) {
    const int code = errno;
    throw error(errc::system,
                std::string("eventfd: ") + std::strerror(code) + "; " + errno_hint(code));
  }
}

void event_fd::ring() noexcept {
  const int saved = errno;
  const std::uint64_t one = 1;
  // EAGAIN means that the counter is at its maximum: it is readable, which is enough.
  while (::write(fd_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
  errno = saved;
}

bool event_fd::drain() noexcept {
  std::uint64_t count = 0;
  ssize_t got = 0;
  do {
    got = ::read(fd_.get(), &count, sizeof count);
  } while (got < 0 && errno == EINTR);
  return got == sizeof count;
}

}  // namespace weft::runtime
