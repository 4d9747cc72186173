// SPDX-License-Identifier: Apache-2.0
// Jobs whose ranks have several lanes, each rank another number of them.
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "support/catch.hpp"
#include "support/transports.hpp"

namespace {

struct lanes_end {
  int status;
  std::string said;
};

lanes_end lanes(const std::string& transport, const std::string& how) {
  const std::string command = "WEFT_TRANSPORTS=self," + transport + " exec timeout 100 " +
                              WEFT_TEST_BIN_DIR "/weft-run -n 3 " +
                              WEFT_TEST_BIN_DIR "/tests/lanes " + how;
  FILE* const output = ::popen(command.c_str(), "r");
  REQUIRE(output);
  lanes_end end;
  for (char line[256]; std::fgets(line, sizeof line, output);) end.said += line;
  const int status = ::pclose(output);
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return end;
}

}  // namespace

TEST_CASE("lanes: every lane of every rank talks to every other one") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  CAPTURE(transport);
  CHECK(lanes(transport, "all").status == 0);
}

TEST_CASE("lanes: the death of a process ends its peers in all lanes") {
  const std::string transport = GENERATE(from_range(weft::tests::transports()));
  const lanes_end end = lanes(transport, "mortal");
  CAPTURE(transport, end.said);
  CHECK(end.status == 128 + SIGKILL);
  for (const char* lane : {"rank 0 lane 0", "rank 2 lane 0", "rank 2 lane 1", "rank 2 lane 2"})
    for (const char* dead : {"0", "1"})
      CHECK_THAT(end.said,
                 weft::tests::contains(lane + std::string(" knows of lane ") + dead + " lost"));
}
