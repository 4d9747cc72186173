// SPDX-License-Identifier: Apache-2.0
#include "runtime/os/fork_mark.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.hpp"

TEST_CASE("fork mark: a child knows that it is one, and the parent that it is none") {
  const weft::runtime::fork_mark mark;
  CHECK_FALSE(mark.is_inherited());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(mark.is_inherited() ? 0 : 1);
  REQUIRE(child > 0);
  int how = -1;
  REQUIRE(::waitpid(child, &how, 0) == child);
  CHECK(how == 0);
  CHECK_FALSE(mark.is_inherited());
}
