// SPDX-License-Identifier: Apache-2.0
// Two processes with two TCP connections, of which one is cut in the middle of it.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

#include "support/skip.hpp"

namespace {

pid_t start(const std::string& own, const std::string& other, int seed, bool cuts) {
  const std::string program = WEFT_TEST_BIN_DIR "/tests/exchange";
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);  // a hang is an end, too
    ::execl(program.c_str(), "exchange", own.c_str(), other.c_str(), std::to_string(seed).c_str(),
            cuts ? "cut" : nullptr, nullptr);
    ::_exit(127);
  }
  return pid;
}

int wait_for(pid_t pid) {
  int status = -1;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// So many pairs of processes, each of which loses a link. \return how many noticed before the end
int cut_often(int times) {
  ::setenv("WEFT_TRANSPORTS", "tcp", 1);
  ::setenv("WEFT_TCP_LINKS", "2", 1);
  int noticed = 0;
  for (int i = 0; i != times; ++i) {
    CAPTURE(i);
    const std::string base = "unix://weft-links-" + std::to_string(::getpid()) + "-";
    const std::string left = base + std::to_string(i) + "-left", right = base + std::to_string(i);
    const pid_t one = start(left, right, i, true), two = start(right, left, i, false);
    const int a = wait_for(one), b = wait_for(two);
    CHECK((a == 0 || a == 3));
    CHECK((b == 0 || b == 3));
    noticed += a == 0;
  }
  return noticed;
}

}  // namespace

TEST_CASE("links: one of two connections is cut 25 times, and every message arrives once") {
  CHECK(cut_often(25) > 12);
}

TEST_CASE("links: one of two addresses is cut off 25 times, and every message arrives once") {
  if (::geteuid() != 0) return weft::tests::skip("only root can make a network namespace");
  if (::unshare(CLONE_NEWNET) != 0)
    return weft::tests::skip("network namespaces are forbidden here");
  if (std::system("ip link set lo up && ip addr add 127.0.0.2/8 dev lo") != 0)
    return weft::tests::skip("there is no `ip`, or it may not change a network namespace");
  CHECK(cut_often(25) > 12);
}
