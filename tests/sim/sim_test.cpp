// SPDX-License-Identifier: Apache-2.0
// The simulator's own properties: it finds faults, repeats itself, and shrinks.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "sim/plants.hpp"
#include "sim/shrink.hpp"
#include "support/catch.hpp"

using namespace sim;

namespace {

wishes of_seed(std::uint64_t seed, const std::string& plant = {}) {
  wishes w;
  w.seed = seed;
  w.plant = plant;
  return w;
}

/// The first seed in which the oracle finds a violation; 0: none up to `most`.
std::uint64_t first_found(const std::string& plant, std::uint64_t most) {
  for (wishes w = of_seed(1, plant); w.seed <= most; ++w.seed)
    if (!run(w).good()) return w.seed;
  return 0;
}

struct ended_program {
  int code;
  std::string output;
};

ended_program run_program(const std::string& arguments) {
  ended_program p{-1, {}};
  const std::string command = WEFT_SIM_PROGRAM " " + arguments + " 2>&1";
  std::FILE* out = ::popen(command.c_str(), "r");
  REQUIRE(out);
  std::array<char, 4096> block{};
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), out))
    p.output.append(block.data(), n);
  const int status = ::pclose(out);
  if (WIFEXITED(status)) p.code = WEXITSTATUS(status);
  return p;
}

}  // namespace

TEST_CASE("a planted fault is found within 1000 seeds") {
  for (const plant_kind& kind : plant_kinds()) {
    DYNAMIC_SECTION(kind.name) {
      const std::uint64_t seed = first_found(kind.name, 1000);
      CAPTURE(seed);
      REQUIRE(seed != 0);
      // The planted fault is what was found: without it the same seed is good.
      CHECK(run(of_seed(seed)).violations == std::vector<std::string>{});
    }
  }
}

TEST_CASE("the same seed gives the same run", "[many]") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const verdict first = run(of_seed(seed));
    const verdict second = run(of_seed(seed));
    CAPTURE(seed);
    CHECK(first.fingerprint == second.fingerprint);
    CHECK(first.events == second.events);
  }
}

TEST_CASE("the same seed gives the same run, also with a rank that keeps no rules", "[many]") {
  for (const bool many_links : {false, true})
    for (wishes w = of_seed(1); w.seed <= 20; ++w.seed) {
      w.hostile = true;
      w.many_links = many_links;
      const verdict first = run(w);
      CAPTURE(w.seed, first.violations);
      CHECK(first.good());
      CHECK(first.fingerprint == run(w).fingerprint);
    }
}

TEST_CASE("a rank that keeps no rules does not hide a planted fault") {
  for (const std::string plant : {"double-completion", "dropped-credit"}) {
    wishes w = of_seed(1, plant);
    w.hostile = true;
    while (w.seed <= 1000 && run(w).good()) ++w.seed;
    CAPTURE(plant);
    CHECK(w.seed <= 1000);
  }
}

TEST_CASE("the same seed gives the same run in another process, to the last event", "[many]") {
  for (const std::string seed : {"1", "2", "7", "19"}) {
    const ended_program first = run_program("--trace --seed " + seed);
    const ended_program second = run_program("--trace --seed " + seed);
    CHECK(first.code == 0);
    CHECK(first.output.find("joins") != std::string::npos);
    CHECK((first.output == second.output));
  }
}

TEST_CASE("different seeds give different runs") {
  CHECK(run(of_seed(1)).fingerprint != run(of_seed(2)).fingerprint);
}

TEST_CASE("a failing run shrinks to a smaller one that fails") {
  wishes w = of_seed(1, "double-completion");
  while (make_plan(w).acts.size() < 5 || run(w).good()) REQUIRE(++w.seed <= 1000);
  const wishes small = shrink(w);
  CHECK_FALSE(run(small).good());
  REQUIRE(small.only);
  CHECK(small.only->size() < make_plan(w).acts.size());
}

TEST_CASE("weft-sim says how to repeat a failing seed, and that works") {
  const std::uint64_t seed = first_found("lost-frame", 1000);
  const ended_program found = run_program("--plant lost-frame --seed " + std::to_string(seed));
  CHECK(found.code == 1);
  const std::string intro = "the smallest that fails:  weft-sim ";
  const std::size_t at = found.output.find(intro);
  REQUIRE(at != std::string::npos);
  const std::size_t begin = at + intro.size();
  const std::string arguments = found.output.substr(begin, found.output.find('\n', begin) - begin);
  CAPTURE(arguments);
  const ended_program again = run_program(arguments);
  CHECK(again.code == 1);
  CHECK(again.output.find("VIOLATION") != std::string::npos);
}

TEST_CASE("weft-sim refuses what it does not know") {
  CHECK(run_program("--plant nonsense").code == 2);
  CHECK(run_program("--seeds 1 --minutes 1").code != 0);
  CHECK(run_program("--help").code == 0);
}
