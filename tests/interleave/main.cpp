// SPDX-License-Identifier: Apache-2.0
// <program>: the scenario must hold in all orders.  <program> breaks: one of them must fail.
#include <cstdio>
#include <cstring>

#include "scenario.hpp"

int main(int argc, char** argv) {
  const bool must_break = argc == 2 && std::strcmp(argv[1], "breaks") == 0;
  const interleave::report r = interleave::explore(within(), scenario);
  std::printf("%lu runs: %s\n", r.runs, r.failure.empty() ? "all hold" : r.failure.c_str());
  const bool good = must_break ? !r.failure.empty() : r.failure.empty();
  return good && !r.cut_off ? 0 : 1;
}
