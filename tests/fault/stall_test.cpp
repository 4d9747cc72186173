// SPDX-License-Identifier: Apache-2.0
// A receiver that receives nothing: its sender waits, without using more memory than its budget,
// and afterwards all messages arrive.
#include <signal.h>

#include <iostream>
#include <thread>

#include "job.hpp"
#include "support/catch.hpp"

using namespace fault;
using namespace std::chrono_literals;

namespace {

// In programs/stalled.cpp: 48 streams of 12 messages, 386 MB.
constexpr std::uint64_t everything = 48 * 12;
// The memory of a process, the 32 MB of its buffers, and what a sender or a receiver may keep
// besides.
constexpr std::size_t most_kib = 64 << 10;

/// Waits until rank 0 stops sending. \return how many messages it has sent
std::uint64_t when_stuck(const board& b) {
  std::uint64_t sent = 0;
  int quiet = 0;
  REQUIRE(eventually([&] {
    std::this_thread::sleep_for(50ms);
    const std::uint64_t before = std::exchange(sent, b.rank[0].received[1].load());
    quiet = before == sent && sent != 0 ? quiet + 1 : 0;
    return quiet == 10;
  }));
  return sent;
}

void stall(const std::string& transport, bool stopped, std::chrono::milliseconds how_long) {
  enter_private_world();
  CAPTURE(transport, stopped);
  {
    shared_board shared;
    board& b = shared.notes();
    program launcher(
        {bin + "/weft-run", "-n", "2", bin + "/tests/stalled", std::to_string(shared.fd())},
        {"WEFT_TRANSPORTS=" + transport, "WEFT_UNEXPECTED_BUDGET=4m", "WEFT_PEER_TIMEOUT=2"});
    REQUIRE(eventually(
        [&] { return (b.rank[0].began != 0 && b.rank[1].began != 0) || launcher.has_ended(); }));
    const std::vector<pid_t> pids = launcher.children();
    REQUIRE(pids.size() == 2);
    if (stopped) {
      // In the middle of large messages that the receiver has accepted, so that the socket is full.
      b.please_end = 1;
      REQUIRE(eventually([&] { return b.rank[1].received[0] > 64; }));
      REQUIRE(::kill(pids[1], SIGSTOP) == 0);
    }
    const std::uint64_t sent = when_stuck(b);
    CHECK(sent < everything);
    std::this_thread::sleep_for(how_long);
    const std::size_t sender = memory_of(pids[0]), receiver = memory_of(pids[1]);
    std::cout << transport << (stopped ? ", stopped: " : ", no receive: ") << sent
              << " messages sent; KiB of the sender " << sender << ", of the receiver " << receiver
              << '\n';
    if (!sanitized) CHECK(sender < most_kib);
    if (!sanitized) CHECK(receiver < most_kib);
    if (stopped) REQUIRE(::kill(pids[1], SIGCONT) == 0);
    b.please_end = 1;
    const int status = launcher.wait();
    CAPTURE(launcher.output());
    CHECK(status == 0);
    CHECK(b.rank[0].received[1] == everything);
    CHECK(b.rank[1].received[0] == everything);
  }
  CHECK(leftovers() == "");
}

}  // namespace

TEST_CASE("stall: a receiver that posts no receive, and its sender's memory") {
  stall("self,tcp", false, 0ms);
}
// Shorter: tests/unit/transports/tcp/silence_test.cpp
TEST_CASE("stall: a receiver that is stopped for longer than the peer timeout", "[.soak]") {
  stall("self,tcp", true, GENERATE(8s, 60s));
}
