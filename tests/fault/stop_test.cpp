// SPDX-License-Identifier: Apache-2.0
// A rank is stopped for seconds and goes on: no other rank is disturbed, and the stopped rank goes
// on without errors.
#include <signal.h>

#include <random>
#include <thread>

#include "job.hpp"
#include "support/catch.hpp"

using namespace fault;
using namespace std::chrono_literals;

namespace {

/// Whether messages flow from now on between the ranks other than `without` (`ranks`: between all).
bool all_flow(job& j, std::size_t without) {
  std::array<std::array<std::uint64_t, ranks>, ranks> before{};
  const auto each_pair = [&](auto what) {
    bool all = true;
    for (std::size_t to = 0; to < ranks; ++to)
      for (std::size_t from = 0; from < ranks; ++from)
        if (to != from && to != without && from != without)
          all = what(j.notes().rank[to].received[from], before[to][from]) && all;
    return all;
  };
  each_pair([](const auto& now_there, std::uint64_t& then) {
    then = now_there;
    return true;
  });
  return eventually([&] {
    return j.launcher().has_ended() || each_pair([](const auto& now_there, std::uint64_t then) {
             return now_there > then + 10;
           });
  });
}

void stop_some(int rounds, std::chrono::milliseconds how_long) {
  const setting where = GENERATE(from_range(settings()));
  const auto seed = std::random_device{}();
  std::mt19937 dice(seed);
  const auto random = [&](int below) {
    return std::uniform_int_distribution<>(0, below - 1)(dice);
  };
  CAPTURE(seed, where);
  {
    job j(where, "dedicated", "");
    REQUIRE(eventually([&] { return j.pids().size() == ranks || j.launcher().has_ended(); }));
    const std::vector<pid_t> pids = j.pids();
    REQUIRE(pids.size() == ranks);
    for (int round = 0; round < rounds; ++round) {
      const auto victim = static_cast<std::size_t>(random(ranks));
      std::this_thread::sleep_for(std::chrono::microseconds(random(30'000)));
      CAPTURE(round, victim);
      // The first victim may not have begun yet: then no other rank can have connected to it
      // either.
      REQUIRE(::kill(pids[victim], SIGSTOP) == 0);
      CHECK(all_flow(j, victim));
      std::this_thread::sleep_for(how_long);
      CHECK(all_flow(j, victim));
      REQUIRE(::kill(pids[victim], SIGCONT) == 0);
      CHECK(all_flow(j, ranks));
      CAPTURE(j.launcher().output());
      REQUIRE(!j.launcher().has_ended());
    }
    j.end_well();
  }
  CHECK(leftovers() == "");
}

}  // namespace

TEST_CASE("stop: a rank is stopped for seconds, then goes on") { stop_some(1, 2s); }
TEST_CASE("stop: ranks are stopped again and again") { stop_some(10, 50ms); }
TEST_CASE("stop: ranks are stopped for five seconds, twenty times", "[.soak]") {
  stop_some(20, 5s);
}
