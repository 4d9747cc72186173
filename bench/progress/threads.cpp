// SPDX-License-Identifier: Apache-2.0
// Several threads of a process, with a lane each and with one lane for all, beside threads of MPIs.
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <weft/context_address.hpp>

#include "commands.hpp"
#include "peers/launch.hpp"
#include "progress/thread_team.hpp"
#include "stage/report.hpp"
#include "stage/stage.hpp"
#include "support/affinity.hpp"
#include "support/pair.hpp"

namespace weft::bench::threads_command {
namespace {

struct request {
  settings chosen;
  job what{.bench = "threads", .window = 64};
  bool with_peers = true;
};

constexpr const char* two_processes = "two processes";
constexpr const char* one_process = "one process";

report table_of(const request& wanted) {
  return report({{"between", "between"},
                 {"pairs", "threads"},
                 {"each thread has", "way"},
                 {"M messages/s", std::string(mmsg_s)},
                 {"p10", "p10"},
                 {"p90", "p90"},
                 {"half round trip µs", std::string(half_rtt_us)},
                 {"switches/1000", "switches_per_kmsg"}},
                wanted.chosen.as_json);
}

/// A context for so many threads. Both sides connect by addresses, which a job is not needed for.
options options_for(const request& wanted, std::size_t threads, bool lanes, unsigned processes) {
  options o = options_of(wanted.chosen);
  o.standalone = true;
  o.lanes = lanes ? static_cast<unsigned>(threads) : 1;
  o.processes_per_host = lanes ? processes : processes * static_cast<unsigned>(threads);
  return o;
}

tag direction(unsigned pair, bool forth) { return tag{2 * pair + (forth ? 1u : 2u)}; }

team_plan plan_of(const request& wanted) {
  team_plan p{.size = wanted.what.sizes.front(), .window = wanted.what.window};
  p.batches = std::max<std::size_t>(5, std::size_t(double(p.batches) * wanted.what.effort));
  return p;
}

void add_line(report& out, const request& wanted, const char* between, std::size_t pairs,
              bool lanes, const team_samples& samples) {
  json line = make_line(head_of("threads", wanted.chosen, wanted.what.sizes.front()), mmsg_s,
                        samples.mmsg_s);
  line["between"] = between;
  line["threads"] = pairs;
  line["way"] = lanes ? "a lane" : "the same lane";
  line[std::string(half_rtt_us)] = median(samples.half_rtt_us);
  line["switches_per_kmsg"] = samples.switches_per_kmsg;
  out.add(line);
}

/// The core of side `side` of pair `pair`: each thread has one of its own, as far as there are
/// enough.
std::optional<std::size_t> core_of(const request& wanted, unsigned pair, unsigned side) {
  if (!wanted.chosen.pin) return std::nullopt;
  return (2 * pair + side) % allowed_cores().size();
}

/// Thread k of one process with thread k of the other one.
team_samples between_processes(forked_member& member, const request& wanted, std::size_t threads,
                               bool lanes) {
  context ctx(options_for(wanted, threads, lanes, 2));
  auto* const addresses = reinterpret_cast<context_address*>(member.shared().data());
  addresses[member.rank()] = context_address_of(ctx);
  member.barrier();
  std::vector<team_thread> all;
  for (unsigned k = 0; k != threads; ++k) {
    context& lane = ctx.lane(lanes ? k : 0);
    all.push_back({.lane = &lane,
                   .partner = peer_at(lane, addresses[1 - member.rank()]).lane(lanes ? k : 0),
                   .out = direction(k, member.rank() == 0),
                   .in = direction(k, member.rank() != 0),
                   .leads = member.rank() == 0,
                   .core = core_of(wanted, k, static_cast<unsigned>(member.rank()))});
  }
  team_samples done = run_team(all, plan_of(wanted), threads);
  member.barrier();  // neither context ends before
  return done;
}

/// Thread 2k of this process with thread 2k + 1.
team_samples inside_a_process(const request& wanted, std::size_t pairs, bool lanes) {
  context ctx(options_for(wanted, 2 * pairs, lanes, 1));
  std::vector<team_thread> all;
  for (unsigned k = 0; k != 2 * pairs; ++k) {
    context& lane = ctx.lane(lanes ? k : 0);
    // By one lane both sides of a pair are the same peer: the tags tell the direction.
    all.push_back({.lane = &lane,
                   .partner = lane.world()[0].lane(lanes ? k ^ 1u : 0),
                   .out = direction(k / 2, k % 2 == 0),
                   .in = direction(k / 2, k % 2 != 0),
                   .leads = k % 2 == 0,
                   .core = core_of(wanted, k / 2, k % 2)});
  }
  return run_team(all, plan_of(wanted), pairs);
}

void with_weft(const request& wanted) {
  const pair_options stage{.name = "threads",
                           .shared_bytes = 2 * sizeof(context_address),
                           .time_limit = std::chrono::minutes(10),
                           .pin = false};
  run_pair(stage, [&](forked_member& member) {
    report out = table_of(wanted);
    for (const int threads : wanted.what.threads)
      for (const bool lanes : {true, false}) {
        const auto n = static_cast<std::size_t>(threads);
        const team_samples done = between_processes(member, wanted, n, lanes);
        if (member.rank() == 0) add_line(out, wanted, two_processes, n, lanes, done);
      }
    if (member.rank() == 0) out.finish();
  });
  report out = table_of(wanted);
  for (const int pairs : wanted.what.threads)
    for (const bool lanes : {true, false}) {
      const auto n = static_cast<std::size_t>(pairs);
      add_line(out, wanted, one_process, n, lanes, inside_a_process(wanted, n, lanes));
    }
  out.finish();
}

void with_peers(const request& wanted) {
  report out({{"library", "contestant"},
              {"pairs", "threads"},
              {"each thread has", "way"},
              {"M messages/s", std::string(mmsg_s)},
              {"p10", "p10"},
              {"p90", "p90"},
              {"half round trip µs", std::string(half_rtt_us)}},
             wanted.chosen.as_json);
  const std::filesystem::path bin = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  job what = wanted.what;
  what.pin = wanted.chosen.pin;
  std::string missing;
  for (const peer& one : known_peers(wanted.chosen.transport)) {
    if (!one.is_mpi() || one.progress != "polling") continue;
    try {
      out.measuring(one.name);
      const auto done = run_command(peer_command(one, what, bin), std::chrono::minutes(5));
      if (!done.ok()) throw std::runtime_error(done.reason());
      for (json line : parse_lines(done.out)) {
        line["contestant"] = one.name;
        out.add(line);
      }
    } catch (const std::exception& e) {
      missing += fmt::format("{} took no part: {}\n", one.name, e.what());
    }
  }
  out.finish();
  fmt::print(stderr, "{}", missing);
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand(
      "threads", "Threads with a lane each, and with one lane, beside MPIs with as many threads");
  add_job_options(*sub, wanted->what);
  add_settings(*sub, wanted->chosen);
  sub->add_flag("!--no-peers", wanted->with_peers, "Without the MPIs");
  sub->callback([wanted] {
    with_weft(*wanted);
    if (wanted->with_peers) with_peers(*wanted);
  });
}

}  // namespace weft::bench::threads_command
