// SPDX-License-Identifier: Apache-2.0
// How commands of the benchmarks end.
#include <signal.h>

#include <chrono>
#include <string>

#include "support/catch.hpp"
#include "support/subprocess.hpp"

using namespace weft::bench;
using namespace std::chrono_literals;

namespace {

command shell(const std::string& script) { return {{"/bin/sh", "-c", script}, {}}; }

}  // namespace

TEST_CASE("A command that ends by itself has its status and its output") {
  const command_result ended = run_command(shell("echo out; echo err >&2; exit 3"), 20s);
  CHECK(ended.status == 3);
  CHECK(ended.out == "out\n");
  CHECK_THAT(ended.reason(), weft::tests::contains("exit code 3") && weft::tests::contains("err"));
}

TEST_CASE("A command that does not end in time is ended, and says before what it waits for") {
  command hangs = shell(
      "trap 'echo waits for rank 1 >&2' USR2; trap 'echo ended >&2; exit 1' TERM; echo before >&2; "
      "while :; do sleep 0.1; done");
  SECTION("when it can") {
    hangs.dump_signal = SIGUSR2;
    const command_result ended = run_command(hangs, 2s);
    CHECK(ended.timed_out);
    CHECK(ended.reason() ==
          "did not finish in time; what it waited for:\nwaits for rank 1\nended\n");
  }
  SECTION("or its last lines") {
    const command_result ended = run_command(hangs, 2s);
    CHECK(ended.timed_out);
    CHECK(ended.reason() == "did not finish in time; it said:\nbefore\nended");
  }
}
