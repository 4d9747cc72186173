// SPDX-License-Identifier: Apache-2.0
// The cost of the other transports for shared memory: 8-byte half round trips and rate on a context
// with `shm` alone, and on one with every transport. Both processes have both, and the two take
// turns, so that drift of the machine affects both.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "stage/loops.hpp"
#include "stage/report.hpp"
#include "stage/ways.hpp"

namespace weft::bench::tax_command {
namespace {

constexpr std::size_t message = 8;
constexpr double bound = 1.03;  // of the design

struct request {
  settings chosen;
  int rounds = 31;
  double effort = 1;
};

options with(const settings& chosen, std::vector<std::string> transports) {
  options result = options_of(chosen);
  result.transports = std::move(transports);
  return result;
}

/// Of one context, a value for each round.
struct figures {
  std::vector<double> half_rtt;
  std::vector<double> rate;
};

void tell(const request& wanted, const std::string& all, const std::array<figures, 2>& of) {
  report out({{"enabled", "enabled"},
              {"half round trip µs", "half_rtt_us"},
              {"M messages/s", "mmsg_s"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"cost", "cost"},
              {"target", "target"}},
             wanted.chosen.as_json);
  out.title(fmt::format("shm, 8 bytes; {} rounds in turns; cost: median of the paired ratios",
                        wanted.rounds));
  const auto add = [&](std::string_view metric, std::vector<double> figures::*which) {
    const auto& alone = of[0].*which;
    const auto& beside = of[1].*which;
    for (const auto* one : {&alone, &beside}) {
      auto line = make_line(head_of("tax", wanted.chosen, message), metric, *one);
      line["enabled"] = one == &alone ? "shm" : all;
      if (one == &beside) {
        // A cost above one is a loss in both metrics.
        line["cost"] =
            median(metric == mmsg_s ? paired_ratios(alone, beside) : paired_ratios(beside, alone));
        line["target"] = fmt::format("≤ {}: {}", bound,
                                     line["cost"].get<double>() <= bound ? "met" : "falls short");
      }
      out.add(line);
    }
  };
  add(half_rtt_us, &figures::half_rtt);
  add(mmsg_s, &figures::rate);
  out.finish();
}

void act(pair_member& member, const request& wanted) {
  const std::vector<std::string> everything = options{}.transports;
  std::array<place, 2> places{place(with(wanted.chosen, {"self", "shm"})),
                              place(with(wanted.chosen, everything))};
  for (place& at : places) at.meet(member);

  job windowed{.bench = "rate", .window = 64, .effort = 0.05 * wanted.effort};
  plan turns{.warm_up = 500, .batches = 5, .per_batch = 1000};
  turns = turns.scaled(wanted.effort);
  std::array<figures, 2> of;
  in_turns(wanted.rounds, of.size(), [&](std::size_t which) {
    const side me = side_at(places[which], member);
    of[which].half_rtt.push_back(median(run(me.ctx, half_round_trips(me, message, turns))));
    of[which].rate.push_back(median(run(me.ctx, windows(me, message, windowed))));
    member.barrier();
  });
  if (member.rank() == 0) {
    std::string all;
    for (const auto& name : everything)
      if (name != "self") all += (all.empty() ? "" : "+") + name;
    tell(wanted, all, of);
  }
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("tax", "What every other transport costs shared memory");
  sub->add_option("--rounds", wanted->rounds, "Turns of shm alone and all transports")
      ->check(CLI::PositiveNumber);
  sub->add_option("--effort", wanted->effort, "Factor on the samples of each round")
      ->check(CLI::PositiveNumber);
  add_settings(*sub, wanted->chosen, {.transport = false});
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("tax", wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
}

}  // namespace weft::bench::tax_command
