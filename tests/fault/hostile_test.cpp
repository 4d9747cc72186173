// SPDX-License-Identifier: Apache-2.0
// A rank that writes garbage over everything that it shares: programs/hostile.cpp. One that writes
// garbage over flag segments while they are used: programs/flag_liar.cpp.
#include "support/catch.hpp"
#include "world.hpp"

namespace {

/// From the first call on.
const std::string all_by_flags =
    "WEFT_COLLECTIVES=barrier:flags,broadcast:flags,reduce:flags,all_reduce:flags_parts,gather:"
    "flags,scatter:flags,all_gather:flags,all_to_all:flags,scan:flags";

void survive(unsigned seed, const std::string& mode, const std::string& program = "hostile") {
  CAPTURE(seed, mode);
  const fault::outcome o = fault::run(
      {WEFT_TEST_BIN_DIR "/weft-run", "-n", "3", WEFT_TEST_BIN_DIR "/tests/" + program,
       std::to_string(seed)},
      {"WEFT_PROGRESS=" + mode, program == "hostile" ? "WEFT_COLLECTIVES=" : all_by_flags});
  CAPTURE(o.output);
  CHECK(o.status == 0);
  CHECK(fault::count(o.output, "well after") == 2);
}

}  // namespace

TEST_CASE("hostile: a rank that writes garbage over all shared memory harms nobody else") {
  const std::string mode = GENERATE("dedicated", "polling", "interrupt");
  for (unsigned seed = 1; seed <= 4; ++seed) survive(seed, mode);
}

TEST_CASE("hostile: a member that writes garbage over flags harms its own groups only") {
  const std::string mode = GENERATE("dedicated", "polling", "interrupt");
  for (unsigned seed = 1; seed <= 3; ++seed) survive(seed, mode, "flag_liar");
}

TEST_CASE("hostile: flags with many seeds", "[.soak]") {
  for (unsigned seed = 100; seed < 400; ++seed)
    survive(seed,
            seed % 3 == 0   ? "dedicated"
            : seed % 3 == 1 ? "polling"
                            : "interrupt",
            "flag_liar");
}

TEST_CASE("hostile: the same with many seeds", "[.soak]") {
  for (unsigned seed = 100; seed < 500; ++seed)
    survive(seed, seed % 3 == 0 ? "dedicated" : seed % 3 == 1 ? "polling" : "interrupt");
}
