// SPDX-License-Identifier: Apache-2.0
// A rank is killed at a random moment, from its start on: the others learn of it and go on, and
// nothing is left over.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <random>
#include <thread>

#include "job.hpp"
#include "support/catch.hpp"

using namespace fault;
using namespace std::chrono_literals;

namespace {

/// When the rank is killed.
enum class moment {
  beginning,  ///< while it starts, connects to the others and sends its first messages
  traffic,    ///< while all ranks send to all ranks
  ending      ///< about when all ranks leave in good order
};

/// The promise is a second; sanitizers and emulated machines make no promises.
std::int64_t news_limit() {
  return (sanitized || on_a_device() ? 20 : 1) * std::int64_t{1'000'000'000};
}

struct report {
  std::int64_t slowest = 0;  ///< of all ranks, from the death (or the own start) until it is known
  int killed = 0;            ///< how often the rank was killed before it had ended
};

void kill_one(int round, std::mt19937& dice, report& so_far) {
  const auto random = [&](int below) {
    return std::uniform_int_distribution<>(0, below - 1)(dice);
  };
  const auto when = static_cast<moment>(random(3));
  const auto victim = static_cast<std::size_t>(random(ranks));
  const auto delay = std::chrono::microseconds(random(when == moment::ending ? 20'000 : 40'000));
  const char* modes[] = {"dedicated", "interrupt", "dedicated", "polling"};
  const std::string mode = modes[random(4)];
  const setting& where = settings()[static_cast<std::size_t>(round) % settings().size()];
  CAPTURE(round, static_cast<int>(when), victim, delay.count(), mode, where);

  std::int64_t killed_at = 0;
  {
    job j(where, mode, when == moment::ending ? "2000" : "");
    REQUIRE(eventually([&] { return j.pids().size() == ranks || j.launcher().has_ended(); }));
    const std::vector<pid_t> pids = j.pids();
    if (when != moment::beginning)
      REQUIRE(eventually([&] {
        const std::uint64_t some = when == moment::ending ? 60 : 1;
        return j.notes().flows_with(victim, some) || j.launcher().has_ended();
      }));
    std::this_thread::sleep_for(delay);
    killed_at = now();
    // Sends no signal to a process that has reused the pid: the launcher soon reaps the ranks of a
    // job.
    if (pids.size() == ranks && j.pids().size() == ranks) ::kill(pids[victim], SIGKILL);
    const int status = j.launcher().wait();
    const std::string text = j.launcher().output();
    CAPTURE(text);
    CHECK((status == 128 + SIGKILL || status == 0));
    CHECK(count(text, "traffic: ") == 0);
    for (std::size_t r = 0; r < ranks; ++r) {
      const rank_notes& notes = j.notes().rank[r];
      if (r == victim) continue;
      CAPTURE(r);
      CHECK(notes.ended_well == 1);
      for (std::size_t other = 0; other < ranks; ++other) {
        const std::int64_t lost = notes.lost[other];
        if (other != victim) {
          CHECK(lost == 0);
        } else if (lost != 0) {
          const std::int64_t took = lost - std::max<std::int64_t>(killed_at, notes.began);
          so_far.slowest = std::max(so_far.slowest, took);
          CHECK(took < news_limit());
        } else {
          // Only the loss of a rank that had said good-bye goes unnoticed.
          CHECK(when == moment::ending);
        }
      }
    }
    so_far.killed += status != 0;
  }
  CHECK(leftovers() == "");
}

void kill_many(int rounds) {
  const std::string& missing = enter_private_world();
  if (!missing.empty()) std::cout << missing << '\n';
  settings();
  const std::size_t descriptors = open_descriptors();
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 dice(seed);
  report all;
  for (int round = 0; round < rounds; ++round) kill_one(round, dice, all);
  CHECK(open_descriptors() == descriptors);
  CHECK(all.killed > rounds / 4);
  std::cout << all.killed << " of " << rounds << " killed; the slowest news took "
            << all.slowest / 1'000'000 << " ms\n";
}

}  // namespace

TEST_CASE("kill: a rank dies at a random moment, and only it") {
  kill_many(on_a_device() ? 3 : 20);
}
TEST_CASE("kill: a rank dies at 500 random moments, and only it", "[.soak]") { kill_many(500); }

TEST_CASE("kill: the launcher dies, and no rank is left") {
  const setting where = GENERATE(from_range(settings()));
  CAPTURE(where);
  for (const bool at_work : {false, true}) {
    {
      job j(where, "dedicated", "");
      REQUIRE(eventually([&] { return !at_work || j.notes().flows_with(0, 1); }));
      ::kill(j.launcher().pid(), SIGKILL);
      CHECK(j.launcher().wait() == 128 + SIGKILL);
    }
    CHECK(leftovers() == "");
  }
}
