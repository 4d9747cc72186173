// SPDX-License-Identifier: Apache-2.0
// weft-hostile: a victim with honest peers, and an attacker. docs/testing.md.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "acts.hpp"
#include "oracle.hpp"
#include "support/progress_line.hpp"

namespace {

using clock_type = std::chrono::steady_clock;
using hostile::settings;
using hostile::verdict;

constexpr std::uint64_t seeds_per_victim = 50;

struct wishes {
  settings first;
  std::string transport = "all", progress = "all";
  std::uint64_t seeds = 1;
  double minutes = 0;
  bool quiet = false;
};

struct totals {
  std::uint64_t seeds = 0, failed = 0, rounds = 0, requesters = 0;
  double slowest = 0;
  clock_type::time_point began = clock_type::now();

  double seconds() const {
    return std::chrono::duration<double>(clock_type::now() - began).count();
  }
  std::string line() const {
    return fmt::format(
        "{} seeds, {} failed; {} contexts of the attacker, {} round trips of honest peers, the "
        "slowest {:.1f} ms; {:.1f} s, {:.0f} seeds/s",
        seeds, failed, requesters, rounds, slowest, seconds(),
        static_cast<double>(seeds) / std::max(seconds(), 0.001));
  }
};

void print(const verdict& v) {
  for (const std::string& what : v.violations) fmt::print("  {}\n", what);
  std::fflush(stdout);
}

/// Repeats the violation with as few seeds as possible: the last one alone, or the last few.
/// \return whether the violation showed again
bool narrow(settings s, const verdict& v) {
  for (const std::uint64_t many : {std::uint64_t{1}, std::uint64_t{5}, s.seeds}) {
    settings some = s;
    some.first = std::max(s.first, v.at + 1 - std::min(many, v.at + 1 - s.first));
    some.seeds = v.at + 1 - some.first;
    for (int tries = 0; tries != 3; ++tries) {
      const verdict again = hostile::run(some);
      if (again.good()) continue;
      fmt::print("to see it happen:  {} --trace\n", some.command());
      print(again);
      return true;
    }
    if (many >= v.at + 1 - s.first) break;
  }
  fmt::print("it did not show again; the run was:  {}\n", s.command());
  std::fflush(stdout);
  return false;
}

int run_all(const wishes& w) {
  constexpr std::uint64_t failures_until_enough = 5;
  const auto names = [](const std::string& chosen, const std::vector<std::string>& all) {
    return chosen == "all" ? all : std::vector<std::string>{chosen};
  };
  const std::vector<std::string> transports = names(w.transport, hostile::transport_names());
  const std::vector<std::string> modes = names(w.progress, hostile::progress_names());
  totals t;
  weft::tests::progress_line line(w.quiet);
  const auto end = t.began + std::chrono::duration_cast<clock_type::duration>(
                                 std::chrono::duration<double>(w.minutes * 60));
  settings s = w.first;
  for (std::size_t victim = 0; w.minutes > 0 ? clock_type::now() < end : t.seeds < w.seeds;
       ++victim, s.first += s.seeds) {
    s.transport = transports[victim % transports.size()];
    s.progress = modes[victim / transports.size() % modes.size()];
    s.seeds = w.minutes > 0 ? seeds_per_victim : std::min(seeds_per_victim, w.seeds - t.seeds);
    const std::uint64_t before = t.seeds;
    const verdict v = hostile::run(s, [&](const verdict& so_far) {
      t.seeds = before + so_far.played;
      line.show([&] { return t.line(); });
    });
    t.seeds = before + s.seeds;
    t.rounds += v.rounds;
    t.requesters += v.requesters;
    t.slowest = std::max(t.slowest, v.slowest);
    if (v.good()) continue;
    line.clear();
    fmt::print("seed {} over {}, progress {}, FAILED:\n", v.at, s.transport, s.progress);
    print(v);
    // Machines stand still now and then for unknown reasons.
    if (!narrow(s, v) && v.only_slow) {
      fmt::print("so it is not counted\n");
      continue;
    }
    if (++t.failed == failures_until_enough) break;
  }
  line.clear();
  fmt::print("{}\n", t.line());
  return t.failed == 0 ? 0 : 1;
}

std::string acts_in_words() {
  std::string text;
  for (const hostile::act& a : hostile::all_acts())
    text += fmt::format("{}{}", text.empty() ? "" : ", ", a.name);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  wishes w;
  std::vector<unsigned> only;
  CLI::App app{
      "Attacks a process that serves honest peers: completes the handshake, then does what each\n"
      "seed says with valid and nearly valid frames, parcels and bytes. Watches that the victim\n"
      "lives, that honest peers notice nothing, and that whatever was taken returns. Ends with 1\n"
      "if a seed failed, and says how to repeat it."};
  app.add_option("--seed", w.first.first, "the seed, or the first one")->capture_default_str();
  auto* seeds = app.add_option("--seeds", w.seeds, "how many seeds")->capture_default_str();
  app.add_option("--minutes", w.minutes, "as many seeds as fit into so many minutes")
      ->check(CLI::PositiveNumber)
      ->excludes(seeds);
  std::vector<std::string> transports = hostile::transport_names(),
                           modes = hostile::progress_names();
  transports.emplace_back("all");
  modes.emplace_back("all");
  app.add_option("--transport", w.transport, "what the victim uses; all: one victim each in turn")
      ->check(CLI::IsMember(transports))
      ->capture_default_str();
  app.add_option("--progress", w.progress, "the victim's progress mode")
      ->check(CLI::IsMember(modes))
      ->capture_default_str();
  app.add_option("--only", only, "only these acts of the seed, by number: 0,3,4")->delimiter(',');
  app.add_option("--without", w.first.without, "leaves acts out, by name: " + acts_in_words());
  app.add_option("--slowest", w.first.slowest,
                 "milliseconds that a round trip of an honest peer may take")
      ->capture_default_str();
  app.add_option("--plant", w.first.plant,
                 "puts a fault into the victim, which must be found: the run has to fail")
      ->check(CLI::IsMember(hostile::plant_names()));
  app.add_flag("--trace", w.first.trace, "prints what the attacker does and hears");
  app.add_flag("--quiet", w.quiet, "no progress line");
  CLI11_PARSE(app, argc, argv);
  w.first.only.assign(only.begin(), only.end());
  try {
    return run_all(w);
  } catch (const std::exception& e) {
    fmt::print(stderr, "weft-hostile: {}\n", e.what());
    return 2;
  }
}
