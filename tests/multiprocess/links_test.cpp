// SPDX-License-Identifier: Apache-2.0
// Two processes with two links, one of which breaks during communication.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "support/catch.hpp"
#include "support/skip.hpp"
#include "support/transports.hpp"

namespace {

/// \param breaks how it breaks a link; null: the other process breaks one
pid_t start(const std::string& own, const std::string& other, int seed, const char* breaks,
            const char* what) {
  const std::string program = WEFT_TEST_BIN_DIR "/tests/exchange";
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(std::getenv("WEFT_TEST_TRANSPORT") ? 300 : 60);  // a hang ends the process, too
    ::execl(program.c_str(), "exchange", own.c_str(), other.c_str(), std::to_string(seed).c_str(),
            breaks, what, nullptr);
    ::_exit(127);
  }
  return pid;
}

int wait_for(pid_t pid) {
  int status = -1;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A pair of processes that loses a link. \return whether it noticed before the end
bool lose_one(int seed, const char* breaks, const char* what) {
  CAPTURE(seed);
  const std::string left = "unix://weft-links-" + std::to_string(::getpid()) + "-" +
                           std::to_string(seed) + "-left",
                    right = left + "-right";
  const pid_t one = start(left, right, seed, breaks, what);
  const pid_t two = start(right, left, seed, nullptr, nullptr);
  const int a = wait_for(one), b = wait_for(two);
  CHECK((a == 0 || a == 3));
  CHECK((b == 0 || b == 3));
  return a == 0;
}

/// \param connections over TCP, one of which is cut
/// \return how many of so many pairs noticed
int cut_often(int times, const char* transport, const char* connections) {
  ::setenv("WEFT_TRANSPORTS", transport, 1);
  ::setenv("WEFT_TCP_LINKS", connections, 1);
  int noticed = 0;
  for (int i = 0; i != times; ++i) noticed += lose_one(i, "cut", connections);
  return noticed;
}

}  // namespace

TEST_CASE("links: one of two connections is cut 25 times, and every message arrives once") {
  CHECK(cut_often(25, "tcp", "2") > 12);
}

TEST_CASE("links: the connection beside another transport is cut, and every message arrives once") {
  const std::string beside = weft::tests::transports().front();
  const int times = beside == "verbs" ? 2 : 10;  // usually in an emulated machine
  CHECK(cut_often(times, (beside + "+tcp").c_str(), "1") > times / 4);
}

TEST_CASE("links: the network of an RDMA device goes down, and tcp carries everything",
          "[.guest]") {
  if (weft::tests::transports().front() != "verbs" || !std::getenv("WEFT_TEST_GUEST"))
    return weft::tests::skip("only the guest's network may be taken down");
  ::setenv("WEFT_TRANSPORTS", "verbs+tcp", 1);
  ::setenv("WEFT_TCP_INTERFACES", "lo", 1);
  ::setenv("WEFT_PEER_TIMEOUT", "2", 1);
  bool noticed = false;  // sometimes all messages have arrived before
  for (int seed = 1; !noticed && seed != 5; ++seed) {
    noticed = lose_one(seed, "unplug", "dummy0");
    REQUIRE(std::system("ip link set dummy0 up") == 0);
  }
  CHECK(noticed);
}

TEST_CASE("links: one of two addresses is cut off 25 times, and every message arrives once") {
  if (::geteuid() != 0) return weft::tests::skip("only root can make a network namespace");
  if (::unshare(CLONE_NEWNET) != 0)
    return weft::tests::skip("network namespaces are forbidden here");
  if (std::system("ip link set lo up && ip addr add 127.0.0.2/8 dev lo") != 0)
    return weft::tests::skip("there is no `ip`, or it may not change a network namespace");
  CHECK(cut_often(25, "tcp", "2") > 12);
}
