// SPDX-License-Identifier: Apache-2.0
#include <weft/run_main.hpp>

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace weft {

void detail::print_lines() noexcept {
  struct stat what {};
  if (::fstat(STDOUT_FILENO, &what) == 0 && S_ISFIFO(what.st_mode))
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
}

int detail::report_failure(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", ::program_invocation_short_name, e.what());
  } catch (...) {
    std::fprintf(stderr, "%s: an exception that is no std::exception\n",
                 ::program_invocation_short_name);
  }
  return EXIT_FAILURE;
}

}  // namespace weft
