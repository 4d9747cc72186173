// SPDX-License-Identifier: Apache-2.0
// Processes that are killed and started again, and the job that is whole again each time.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "launcher.hpp"
#include "support/catch.hpp"

using weft::tests::launcher;

namespace {

/// \param returns how many processes come back \param life the median, in milliseconds
void kill_and_restore(const char* transports, int returns, int life) {
  constexpr int slower = WEFT_TEST_SANITIZED ? 8 : 1;  // so much longer a process takes to start
  ::setenv("WEFT_TRANSPORTS", transports, 1);
  launcher job({"-n", "4", "--restart", "1000000", WEFT_TEST_BIN_DIR "/tests/restored",
                std::to_string(returns), std::to_string(slower * life)});
  const int status = job.wait();
  ::unsetenv("WEFT_TRANSPORTS");
  CAPTURE(job.err());
  CHECK(status == 0);
  CHECK_THAT(job.out(), weft::tests::contains("[0] right after "));
}

}  // namespace

TEST_CASE("restored: the result is right however often ranks are killed, and come back") {
  const auto transports = GENERATE("self,shm", "self,tcp");
  CAPTURE(transports);
  kill_and_restore(transports, 30, 60);
}

TEST_CASE("restored: most processes die before they have their place") {
  kill_and_restore("self,shm", 30, 20);
}

TEST_CASE("restored: a rank that fails too often is the job's failure") {
  const std::string lives = "restored-" + std::to_string(::getpid());
  launcher job(weft::tests::shell({"-n", "2", "--restart", "2"},
                                  "test $WEFT_RANK = 0 || { echo >>" + lives +
                                      "; exit 5; }; while test $(cat " + lives +
                                      " | wc -l) -lt 3; do sleep 0.02; done 2>&-"));
  CHECK(job.wait() == 5);
  ::unlink(lives.c_str());
  CHECK_THAT(job.err(),
             weft::tests::contains("ended with status 5, and is started again (1 of 2") &&
                 weft::tests::contains("(2 of 2 times)"));
}

TEST_CASE("restored: rank 0 is not started again") {
  launcher job(weft::tests::shell({"-n", "2", "--restart", "2"}, "test $WEFT_RANK = 1 || exit 5"));
  CHECK(job.wait() == 5);
  CHECK_THAT(job.err(), !weft::tests::contains("is started again"));
}

TEST_CASE("restored: a thousand kills", "[.soak]") {
  const auto transports = GENERATE("self,shm", "self,tcp");
  CAPTURE(transports);
  kill_and_restore(transports, 1000, 60);
}
