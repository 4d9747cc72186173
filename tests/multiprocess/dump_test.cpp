// SPDX-License-Identifier: Apache-2.0
// What ranks print when a signal asks what they wait for.
#include <signal.h>

#include <string>
#include <vector>

#include "launcher.hpp"
#include "support/catch.hpp"

namespace {

std::vector<std::string> two_stuck(std::vector<std::string> arguments = {}) {
  std::vector<std::string> all{"-n", "2", WEFT_TEST_BIN_DIR "/tests/stuck"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

}  // namespace

TEST_CASE("for SIGQUIT each rank prints what it waits for, and goes on") {
  weft::tests::launcher job(two_stuck());
  job.wait_for_output("[0] stuck");
  job.wait_for_output("[1] stuck");
  job.signal(SIGQUIT);
  for (const char* line :
       {"rank 0: receive from rank 1, tag 7, 64 bytes: no message has come",
        "rank 0: receive from rank 1, barrier of the world",
        "rank 0: send to rank 1, tag 8, 1048576 bytes: ",
        "rank 0: call of handler 3 at rank 1: no reply has come",
        "rank 0: connection to rank 1: ", "rank 1: calls of peers that are served: 1",
        "rank 1: message from rank 0, tag 9, 100 bytes: no receive has met it",
        "rank 1: connection to rank 0: open, "})
    job.wait_for_errors(std::string("weft: ") + line);
  job.signal(SIGQUIT);
  job.wait_for_errors("tag 7, 64 bytes: no message has come, for at least ");
  job.signal(SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
}

TEST_CASE("a handler of the application is not replaced by that of dumps") {
  weft::tests::launcher job(two_stuck({"own"}));
  job.wait_for_output("[0] stuck");
  job.wait_for_output("[1] stuck");
  job.signal(SIGQUIT);
  job.wait_for_output("[0] own handler");
  job.wait_for_output("[1] own handler");
  job.signal(SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
  CHECK_THAT(job.err(), weft::tests::contains("dumps: none, the application handles SIGQUIT"));
  CHECK_THAT(job.err(), !weft::tests::contains("pending operations"));
}
