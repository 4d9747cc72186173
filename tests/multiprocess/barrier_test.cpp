// SPDX-License-Identifier: Apache-2.0
// Barriers of whole jobs.
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "support/catch.hpp"
#include "support/transports.hpp"

namespace {

struct job_end {
  int status;
  std::string said;
};

job_end barriers(const std::string& transport, const std::string& ranks, const std::string& how) {
  const std::string command = "WEFT_TRANSPORTS=self," + transport + " exec timeout 100 " +
                              WEFT_TEST_BIN_DIR "/weft-run -n " + ranks + " " +
                              WEFT_TEST_BIN_DIR "/tests/barriers " + how;
  FILE* const output = ::popen(command.c_str(), "r");
  REQUIRE(output);
  job_end end;
  for (char line[256]; std::fgets(line, sizeof line, output);) end.said += line;
  const int status = ::pclose(output);
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return end;
}

}  // namespace

TEST_CASE("barrier: passes messages that nobody has received") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  const std::string ranks = GENERATE("2", "5");
  CAPTURE(transport, ranks);
  CHECK(barriers(transport, ranks, "crowded").status == 0);
}

// Of eight ranks, two neither send to the dead rank nor receive from it.
TEST_CASE("barrier: ends for everybody when a rank dies") {
  const job_end end = barriers(weft::tests::transports().front(), "8", "mortal");
  CAPTURE(end.said);
  CHECK(end.status == 128 + SIGKILL);
  for (const char* rank : {"0", "2", "3", "4", "5", "6", "7"})
    CHECK_THAT(end.said, weft::tests::contains("rank " + std::string(rank) + " knows"));
}
