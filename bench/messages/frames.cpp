// SPDX-License-Identifier: Apache-2.0
// Eager messages over verbs, sent and written (WEFT_VERBS_EAGER): there and back, and many in
// flight. Both processes have a context for each way, and these take turns, so that drift of the
// machine affects both.
#include <fmt/format.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "stage/loops.hpp"
#include "stage/report.hpp"

namespace weft::bench::frames_command {
namespace {

constexpr std::size_t kib = 1024;

struct request {
  settings chosen{.transport = "verbs", .progress = "polling"};
  job what{.bench = "rate", .sizes = {8, 64, 256, kib, 4 * kib, 16 * kib}, .window = 16};
  int rounds = 11;
};

struct contestant {
  const char* name;
  eager_operation how;
};
/// The first one is the reference of the other.
constexpr contestant contestants[] = {{"send", eager_operation::send},
                                      {"write", eager_operation::write}};

options with(const settings& chosen, const contestant& c) {
  options result = options_of(chosen);
  result.experimental.verbs_eager = c.how;
  result.apply("WEFT_EAGER_LIMIT=auto");
  return result;
}

void act(pair_member& member, const request& wanted) {
  std::deque<place> places;
  for (const contestant& c : contestants) places.emplace_back(with(wanted.chosen, c)).meet(member);
  report out({{"size", "size"},
              {"eager", "eager"},
              {"half round trip µs", "half_rtt_us"},
              {"M messages/s", "mmsg_s"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"against send", "ratio"}},
             wanted.chosen.as_json);
  const bool tells = member.rank() == 0;
  if (tells)
    out.title(fmt::format("{}; {} rounds in turns, {} in flight; ratio: median of the pairs",
                          wanted.chosen.transport, wanted.rounds, wanted.what.window));
  const plan loops = plan{.warm_up = 5, .batches = 5, .per_batch = 40}.scaled(wanted.what.effort);
  const auto measure = [&](std::size_t size, std::string_view metric) {
    if (tells) out.measuring(size_text(size));
    std::vector<std::vector<double>> samples(places.size());
    for (int round = 0; round != wanted.rounds; ++round)
      for (std::size_t turn = 0; turn != places.size(); ++turn) {
        const std::size_t which = (turn + static_cast<std::size_t>(round)) % places.size();
        place& at = places[which];
        const side me{at.ctx, at.peer, member.rank()};
        const auto found = metric == half_rtt_us ? run(at.ctx, half_round_trips(me, size, loops))
                                                 : run(at.ctx, windows(me, size, wanted.what));
        if (tells) samples[which].push_back(median(found));
        member.barrier();
      }
    for (std::size_t i = 0; tells && i != places.size(); ++i) {
      auto line = make_line(head_of("frames", wanted.chosen, size), metric, samples[i]);
      line["eager"] = contestants[i].name;
      line["ratio"] = median(paired_ratios(samples[i], samples[0]));
      out.add(line);
    }
  };
  for (const std::size_t size : wanted.what.sizes) measure(size, half_rtt_us);
  for (const std::size_t size : wanted.what.sizes) measure(size, mmsg_s);
  if (tells) out.finish();
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("frames", "Eager messages over verbs, sent and written");
  sub->add_option("--rounds", wanted->rounds, "Turns of both ways")->check(CLI::PositiveNumber);
  add_job_options(*sub, wanted->what);
  add_settings(*sub, wanted->chosen, {.transport = false});
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("frames", wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
}

}  // namespace weft::bench::frames_command
