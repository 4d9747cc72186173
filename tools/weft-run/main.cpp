// SPDX-License-Identifier: Apache-2.0
// weft-run: starts a program several times on this machine, as the ranks of one job.
#include <cstdio>
#include <exception>
#include <system_error>

#include "former_output.hpp"
#include "options.hpp"
#include "runtime/descriptors/inherited_state.hpp"
#include "runtime/os/errno_hint.hpp"
#include "supervisor.hpp"
#include "trace_merge.hpp"

int main(int argc, char** argv) {
  const weft::runtime::inherited_state inherited;
  weft::run::options chosen;
  int status = 0;
  if (!weft::run::parse(argc, argv, chosen, status)) return status;
  try {
    weft::run::trace_merge traces(chosen.trace, chosen.ranks);
    chosen.trace = traces.path();
    weft::run::remove_former_output(chosen.output, chosen.ranks);
    status = weft::run::supervisor(chosen, inherited).run();
    std::fputs(traces.merge().c_str(), stderr);
    return status;
  } catch (const std::exception& e) {
    const auto* call = dynamic_cast<const std::system_error*>(&e);  // may come from Asio
    std::fprintf(stderr, "weft-run: %s%s%s\n", e.what(), call ? "; " : "",
                 call ? weft::runtime::errno_hint(call->code().value()) : "");
    return 1;
  }
}
