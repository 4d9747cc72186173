// SPDX-License-Identifier: Apache-2.0
// Processes that exit while contexts live: from any thread, often; they must not crash, and must
// end.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "support/catch.hpp"

namespace {

constexpr int well = 3;

pid_t start(const char* way, const char* transports) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("WEFT_TRANSPORTS", transports, 1);
    ::alarm(60);
    ::execl(WEFT_TEST_BIN_DIR "/tests/leaving", "leaving", way, nullptr);
    ::_exit(127);
  }
  REQUIRE(child > 0);
  return child;
}

/// \return as a shell has it; 142: it did not end
int status_of(pid_t child) {
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("exit: a process with a context leaves from wherever it is", "[many]") {
  const std::string way =
      GENERATE(as<std::string>{}, "return", "return_with_receives", "coroutine", "coroutine_static",
               "progress_thread", "thread", "signal", "heap", "late_use");
  const std::string transports = GENERATE(as<std::string>{}, "self,shm", "self,tcp");
  CAPTURE(way, transports);
  for (int i = 0; i != 2; ++i) {
    std::array<pid_t, 4> together;
    for (pid_t& child : together) child = start(way.c_str(), transports.c_str());
    for (const pid_t child : together) CHECK(status_of(child) == well);
  }
}
