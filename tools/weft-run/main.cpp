// SPDX-License-Identifier: Apache-2.0
// weft-run: starts a program several times on this machine, as the ranks of one job.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <system_error>

#include "options.hpp"
#include "runtime/errno_hint.hpp"
#include "supervisor.hpp"

namespace {

/// The starting process may have closed 0, 1 or 2: no pipe of weft-run may get these numbers.
void fill_standard_descriptors() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= 2);
  if (fd > 2) ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  weft::run::options chosen;
  int status = 0;
  if (!weft::run::parse(argc, argv, chosen, status)) return status;
  fill_standard_descriptors();
  try {
    return weft::run::supervisor(chosen).run();
  } catch (const std::exception& e) {
    const auto* call = dynamic_cast<const std::system_error*>(&e);  // may come from Asio
    std::fprintf(stderr, "weft-run: %s%s%s\n", e.what(), call ? "; " : "",
                 call ? weft::runtime::errno_hint(call->code().value()) : "");
    return 1;
  }
}
