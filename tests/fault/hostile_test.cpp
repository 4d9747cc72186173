// SPDX-License-Identifier: Apache-2.0
// A rank that writes garbage over everything that it shares: programs/hostile.cpp.
#include "support/catch.hpp"
#include "world.hpp"

namespace {

void survive(unsigned seed, const std::string& mode) {
  CAPTURE(seed, mode);
  const fault::outcome o = fault::run({WEFT_TEST_BIN_DIR "/weft-run", "-n", "3",
                                       WEFT_TEST_BIN_DIR "/tests/hostile", std::to_string(seed)},
                                      {"WEFT_PROGRESS=" + mode});
  CAPTURE(o.output);
  CHECK(o.status == 0);
  CHECK(fault::count(o.output, "well after") == 2);
}

}  // namespace

TEST_CASE("hostile: a rank that writes garbage over all shared memory harms nobody else") {
  const std::string mode = GENERATE("dedicated", "polling", "interrupt");
  for (unsigned seed = 1; seed <= 4; ++seed) survive(seed, mode);
}

TEST_CASE("hostile: the same with many seeds", "[.soak]") {
  for (unsigned seed = 100; seed < 500; ++seed)
    survive(seed, seed % 3 == 0 ? "dedicated" : seed % 3 == 1 ? "polling" : "interrupt");
}
