// SPDX-License-Identifier: Apache-2.0
// <program>: the scenario must hold in all orders.  <program> breaks: one of them must fail.
#include <cstdio>
#include <cstring>

#include "scenario.hpp"

int main(int argc, char** argv) {
  const bool must_break = argc == 2 && std::strcmp(argv[1], "breaks") == 0;
  interleave::bounds strong = within(), weaker = within();
  strong.stale = 0;
  weaker.delays = 0;
  bool broke = false, cut_off = false;
  for (const interleave::bounds& b : {weaker, strong}) {
    if (broke || cut_off) break;
    const interleave::report r = interleave::explore(b, scenario);
    std::printf("%s: %lu runs: %s\n", b.stale != 0 ? "loads of older values" : "delayed stores",
                r.runs, r.failure.empty() ? "all hold" : r.failure.c_str());
    broke = !r.failure.empty();
    cut_off = r.cut_off;
  }
  return broke == must_break && !cut_off ? 0 : 1;
}
