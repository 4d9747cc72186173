// SPDX-License-Identifier: Apache-2.0
// weft-sim: whole jobs in one process under virtual time, one per seed. docs/testing.md.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>

#include "sim/acts.hpp"
#include "sim/plants.hpp"
#include "sim/shrink.hpp"
#include "support/progress_line.hpp"

extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace {

using clock = std::chrono::steady_clock;
using sim::verdict;
using sim::wishes;

struct settings {
  wishes first;
  std::uint64_t seeds = 1;
  double minutes = 0;
  std::uint64_t failures = 5;  // are enough
  bool trace = false;
  bool quiet = false;
};

/// The sums over all runs.
struct totals {
  std::uint64_t seeds = 0, failed = 0, messages = 0, frames = 0, most_work = 0;
  clock::time_point began = clock::now();

  double seconds() const { return std::chrono::duration<double>(clock::now() - began).count(); }
  std::string line() const {
    return fmt::format(
        "{} seeds, {} failed; {} messages in {} frames, {} steps in a pass at most; {:.1f} s, "
        "{:.0f} seeds/s",
        seeds, failed, messages, frames, most_work, seconds(),
        static_cast<double>(seeds) / std::max(seconds(), 0.001));
  }
};

void report(const wishes& w, const verdict& v) {
  fmt::print("seed {} FAILED:\n", w.seed);
  for (const std::string& what : v.violations) fmt::print("  {}\n", what);
  fmt::print("to see it happen:  {}\nshrinking...\n", w.command());
  std::fflush(stdout);
  const wishes small = sim::shrink(w);
  fmt::print("the smallest that fails:  {}\n", small.command());
  for (const std::string& what : sim::run(small).violations) fmt::print("  {}\n", what);
  std::fflush(stdout);
}

int run_one_with_trace(const wishes& w) {
  const sim::scenario p = sim::make_plan(w);
  fmt::print("{} ranks, {} of {} acts:\n", p.ranks.size(), p.acts.size(), p.acts_in_all);
  for (const sim::act& a : p.acts)
    fmt::print("  {:2}  {:8}  ranks {} and {}, from {} us on\n", a.number, a.kind->name, a.first,
               a.second, a.when.count() / 1000);
  const verdict v = sim::run(w, stdout);
  for (const std::string& what : v.violations) fmt::print("FAILED: {}\n", what);
  fmt::print(
      "{} of {} messages delivered in {} frames and {:.3f} ms; {} events, fingerprint {:016x}\n",
      v.delivered, v.messages, v.frames, static_cast<double>(v.virtual_time.count()) / 1e6,
      v.events, v.fingerprint);
  return v.good() ? 0 : 1;
}

/// The command of the present run, in case the run ends the program.
std::string command_now;

void name_the_seed() {
  const std::string text = "\nweft-sim has crashed; to see it happen:  " + command_now + "\n";
  static_cast<void>(!::write(2, text.data(), text.size()));
}

void on_crash(int signal) {
  name_the_seed();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// A sanitizer has its own handlers, which say more.
void watch_for_crashes() {
  if (__sanitizer_set_death_callback) return __sanitizer_set_death_callback(&name_the_seed);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    std::signal(signal, &on_crash);
}

int run_many(const settings& s) {
  totals t;
  weft::tests::progress_line line(s.quiet);
  const auto end = t.began + std::chrono::duration_cast<clock::duration>(
                                 std::chrono::duration<double>(s.minutes * 60));
  for (wishes w = s.first; s.minutes > 0 ? clock::now() < end : t.seeds < s.seeds; ++w.seed) {
    command_now = w.command();
    const verdict v = sim::run(w);
    ++t.seeds;
    t.messages += v.messages;
    t.frames += v.frames;
    t.most_work = std::max(t.most_work, v.most_work);
    if (!v.good()) {
      line.clear();
      report(w, v);
      if (++t.failed == s.failures) break;
    }
    line.show([&] { return t.line(); });
  }
  line.clear();
  fmt::print("{}\n", t.line());
  return t.failed == 0 ? 0 : 1;
}

std::string names_of_plants() {
  std::string text;
  for (const sim::plant_kind& k : sim::plant_kinds())
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", k.name, k.what);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  std::vector<unsigned> only;
  CLI::App app{
      "Runs whole jobs in one process, under virtual time, each from one seed: with delays, full\n"
      "rings, stalls, deadlines, stops, deaths and late joiners; and checks what weft promises.\n"
      "The same seed gives the same run. Ends with 1 if a run failed, and says how to repeat it."};
  app.add_option("--seed", s.first.seed, "the seed, or the first one")->capture_default_str();
  auto* seeds = app.add_option("--seeds", s.seeds, "how many seeds")->capture_default_str();
  app.add_option("--minutes", s.minutes, "as many seeds as fit into so many minutes")
      ->check(CLI::PositiveNumber)
      ->excludes(seeds);
  app.add_option("--failures", s.failures, "ends after so many seeds that fail")
      ->capture_default_str();
  app.add_option("--ranks", s.first.ranks, "how many ranks, instead of what the seed says")
      ->check(CLI::Range(2, 64));
  app.add_option("--messages", s.first.messages, "at most so many messages in each conversation")
      ->check(CLI::Range(1, 1000));
  app.add_option("--only", only, "only these acts of the run, by number: 0,3,4")->delimiter(',');
  app.add_option("--plant", s.first.plant, "plants a fault: " + names_of_plants());
  app.add_flag("--many-links", s.first.many_links,
               "every pair has several links, all but one of which may break on the way");
  app.add_flag(
      "--hostile", s.first.hostile,
      "one more rank, which keeps no rules: it sends what it likes, and reads when it likes");
  app.add_flag("--returns", s.first.returns,
               "ranks are killed at any moment, and processes come back in their places")
      ->excludes("--hostile");
  app.add_option("--frames", s.first.frames, "at most so many frames in each act of that rank");
  app.add_flag("--trace", s.trace, "prints every event of one seed");
  app.add_flag("--quiet", s.quiet, "no progress line");
  CLI11_PARSE(app, argc, argv);
  if (!only.empty()) s.first.only = only;
  watch_for_crashes();
  try {
    return s.trace ? run_one_with_trace(s.first) : run_many(s);
  } catch (const std::exception& e) {
    fmt::print(stderr, "weft-sim: {}\n", e.what());
    return 2;
  }
}
