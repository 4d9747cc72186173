// SPDX-License-Identifier: Apache-2.0
// The wall clock jumps by hours while a job works: weft must use the steady clock only. The whole
// conformance suite, with its deadlines, runs in this way too (CMakeLists.txt).
#include <cstdlib>
#include <ctime>

#include "job.hpp"
#include "support/catch.hpp"

using namespace fault;

namespace {
const std::string preload = "LD_PRELOAD=" WEFT_TEST_BIN_DIR "/tests/libjumping_clock.so";
}

TEST_CASE("clock: a job while the wall clock jumps by hours") {
  enter_private_world();
  const std::string transport = GENERATE(from_range(transports()));
  const long long before = std::time(nullptr);
  const outcome seen = run({"/bin/date", "+%s"}, {preload});
  CAPTURE(seen.output);
  REQUIRE(std::abs(std::atoll(seen.output.c_str()) - before) > 1800);  // the clock does jump
  job j({transport}, "dedicated", "300", {"/usr/bin/env", preload});
  CHECK(j.launcher().wait() == 0);
}
