// SPDX-License-Identifier: Apache-2.0
// Programs whose standard input, output and error are closed.
#include "support/catch.hpp"
#include "world.hpp"

using namespace fault;

// A former defect: a socket of weft got the number 2, and what a program printed went into it.
TEST_CASE(
    "standard descriptors: what a program prints to closed ones goes into no socket of weft") {
  enter_private_world();
  const std::string transport = GENERATE(from_range(transports()));
  CAPTURE(transport);
  const outcome o = run({bin + "/weft-run", "-n", "3", "--", "/bin/sh", "-c",
                         "exec " + bin + "/tests/noisy <&- >&- 2>&-"},
                        {"WEFT_TRANSPORTS=" + transport});
  CAPTURE(o.output);
  CHECK(o.status == 0);
  CHECK(leftovers() == "");
}
