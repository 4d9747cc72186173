// SPDX-License-Identifier: Apache-2.0
// weft-run: starts a program several times on this machine, as the ranks of one job.
#include <fcntl.h>

#include <cstdio>
#include <exception>
#include <system_error>

#include "options.hpp"
#include "runtime/errno_hint.hpp"
#include "runtime/standard_descriptors.hpp"
#include "supervisor.hpp"

int main(int argc, char** argv) {
  weft::run::options chosen;
  int status = 0;
  if (!weft::run::parse(argc, argv, chosen, status)) return status;
  // No pipe of weft-run may get the numbers 0 to 2.
  weft::runtime::fill_standard_descriptors("/dev/null", O_RDWR);
  try {
    return weft::run::supervisor(chosen).run();
  } catch (const std::exception& e) {
    const auto* call = dynamic_cast<const std::system_error*>(&e);  // may come from Asio
    std::fprintf(stderr, "weft-run: %s%s%s\n", e.what(), call ? "; " : "",
                 call ? weft::runtime::errno_hint(call->code().value()) : "");
    return 1;
  }
}
