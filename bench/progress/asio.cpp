// SPDX-License-Identifier: Apache-2.0
// What it costs to run a context inside an io_context (weft/interop/asio.hpp) instead of inside
// run(): half round trips of both, on the same contexts, in turns, so that drift of the machine
// affects both.
#include <fmt/format.h>

#include <array>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <weft/interop/asio.hpp>

#include "commands.hpp"
#include "stage/loops.hpp"
#include "stage/report.hpp"
#include "stage/ways.hpp"

namespace weft::bench::asio_command {
namespace {

constexpr double bound = 1.2;  // of the design
constexpr std::array<std::size_t, 3> sizes{8, 4096, 65536};

struct request {
  settings chosen;
  int rounds = 21;
  double effort = 1;
  bool busy = false;
};

enum way : std::size_t { in_run, in_io_context, way_count };
constexpr std::array<const char*, way_count> names{"run", "io_context"};
using figures = std::array<std::array<std::vector<double>, way_count>, sizes.size()>;

/// Handlers of Asio that come again and again, each with a little work.
void keep_busy(detail::net::io_context& io, const bool& over) {
  if (over) return;
  detail::net::post(io, [&io, &over] { keep_busy(io, over); });
}

std::vector<double> by_asio(const side& me, std::size_t size, plan loops, bool busy) {
  detail::net::io_context io(1);
  asio_loop loop(me.ctx, io);
  std::vector<double> samples;
  std::exception_ptr failure;
  bool over = false;
  async(me.ctx, half_round_trips(me, size, loops),
        [&](std::exception_ptr e, std::vector<double> result) {
          failure = std::move(e);
          samples = std::move(result);
          over = true;
          loop.stop();
        });
  if (busy) keep_busy(io, over);
  io.run();
  if (failure) std::rethrow_exception(failure);
  return samples;
}

void act(pair_member& member, const request& wanted) {
  place both_ways(options_of(wanted.chosen));
  both_ways.meet(member);
  const side me{both_ways.ctx, both_ways.peer, member.rank()};
  report out({{"inside", "inside"},
              {"size", "size"},
              {"half round trip µs", "half_rtt_us"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"to run", "to_run"},
              {"target", "target"}},
             wanted.chosen.as_json);
  const bool tells = member.rank() == 0;
  if (tells)
    out.title(fmt::format("{}; {} rounds in turns; ratios: medians of the paired ones",
                          wanted.chosen.transport, wanted.rounds));
  figures of;
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    const plan loops = plan{.warm_up = 200, .batches = 9, .per_batch = 500}.scaled(wanted.effort);
    in_turns(wanted.rounds, way_count, [&](std::size_t w) {
      if (tells) out.measuring(fmt::format("{}, {}", size_text(sizes[s]), names[w]));
      member.barrier();
      of[s][w].push_back(median(w == in_run ? run(me.ctx, half_round_trips(me, sizes[s], loops))
                                            : by_asio(me, sizes[s], loops, wanted.busy)));
    });
    if (!tells) continue;
    for (std::size_t w = 0; w < way_count; ++w) {
      auto line = make_line(head_of("asio", wanted.chosen, sizes[s]), half_rtt_us, of[s][w]);
      const double ratio = median_ratio(of[s][w], of[s][in_run]);
      line["inside"] = names[w];
      line["to_run"] = ratio;
      if (w == in_io_context && !wanted.busy)
        line["target"] = fmt::format("≤ {}: {}", bound, ratio <= bound ? "met" : "falls short");
      out.add(line);
    }
  }
  if (tells) out.finish();
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("asio", "Messages inside an io_context of Asio, and inside run()");
  sub->add_option("--rounds", wanted->rounds, "Turns of each way")->check(CLI::PositiveNumber);
  sub->add_option("--effort", wanted->effort, "Factor on the samples of each round")
      ->check(CLI::PositiveNumber);
  sub->add_flag("--busy", wanted->busy, "With a handler of Asio that comes again and again");
  add_settings(*sub, wanted->chosen);
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("asio", wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
}

}  // namespace weft::bench::asio_command
