// SPDX-License-Identifier: Apache-2.0
// weft-info: the version, the variables, the features of this machine, and the choices of a
// context.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <weft/build.hpp>
#include <weft/explain.hpp>
#include <weft/weft.hpp>

#include "attach.hpp"
#include "collectives.hpp"
#include "machine.hpp"
#include "measure.hpp"
#include "merge.hpp"
#include "runtime/descriptors/inherited_state.hpp"
#include "sizes.hpp"
#include "starters.hpp"
#include "topics.hpp"
#include "variables.hpp"
#include "versions.hpp"

namespace {

using namespace weft;
using nlohmann::ordered_json;

/// Sizes at which the way of a message changes, or that users ask about.
const std::vector<std::size_t> usual_sizes{8,        44,       64,        1 << 10, 4 << 10,
                                           16 << 10, 64 << 10, 256 << 10, 1 << 20, 8 << 20};

struct request {
  bool as_json = false;
  bool experiments = false;  // shows all variables for experiments, not only those that are set
  bool versions = false;
  bool why = false;
  std::vector<std::string> about = {};   // sizes, collectives, or one peer
  pid_t attach_to = 0;                   // a process; 0: something else is wanted
  std::string topics_at = {};            // an address; empty: something else is wanted
  std::vector<std::string> traces = {};  // one to be written, and those of ranks
};

ordered_json machine() {
  ordered_json all = ordered_json::array();
  for (const info::finding& f : info::examine_machine())
    all.push_back({{"name", f.name}, {"value", f.value}, {"hint", f.hint}});
  return all;
}

/// All but the context, which may wait for other ranks.
void show_surroundings(const ordered_json& report, bool experiments) {
  fmt::print("{}\n", info::build_text());
  for (const auto& part : report["parts"])
    if (!part["built_in"].get<bool>())
      fmt::print("  {:<22}  {}\n", part["option"].get<std::string>(),
                 part["meaning"].get<std::string>());
  info::show_variables(report, experiments);
  fmt::print("\nthis machine\n");
  for (const auto& f : report["machine"]) {
    fmt::print("  {:<16}  {}\n", f["name"].get<std::string>(), f["value"].get<std::string>());
    if (const auto hint = f["hint"].get<std::string>(); !hint.empty())
      fmt::print("  {:<16}  > {}\n", "", hint);
  }
  info::show_starters(report["starters"]);
  std::fflush(stdout);
}

void show_context(const ordered_json& report) {
  fmt::print("\na context here\n");
  for (const auto& line : report["context"]) fmt::print("  {}\n", line.get<std::string>());
}

ordered_json lines_of(const std::string& text) {
  ordered_json lines = ordered_json::array();
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

constexpr std::string_view rank_prefix = "rank:";

bool is_peer(const std::string& text) {
  return text.starts_with(rank_prefix) || text.find("://") != std::string::npos;
}

/// rank:N of the job that this process was started in, or the address of a listener.
task<endpoint> find_peer(context& ctx, const std::string& text) {
  if (!text.starts_with(rank_prefix)) co_return co_await ctx.connect(text);
  const std::string number = text.substr(rank_prefix.size());
  peer_id rank = 0;
  const auto [rest, failure] = std::from_chars(number.data(), number.data() + number.size(), rank);
  if (failure != std::errc{} || rest != number.data() + number.size())
    throw std::invalid_argument(fmt::format("--why {}: write rank:N, such as rank:1", text));
  if (rank >= ctx.world().size())
    throw std::invalid_argument(
        fmt::format("--why {}: the job has {} ranks; start one with `weft-run -n 2 weft-info --why "
                    "rank:1`, or mpirun",
                    text, ctx.world().size()));
  co_return ctx.world()[rank];
}

const char* text_of(candidate::outcome result) {
  switch (result) {
    case candidate::outcome::chosen:
      return "chosen";
    case candidate::outcome::refused:
      return "failed";
    case candidate::outcome::not_tried:
      return "not tried";
    case candidate::outcome::not_used:
      break;
  }
  return "not used";
}

/// The transports that were tried for a peer. In a job all ranks do this, so that no rank ends
/// before the other ranks have connected to it.
task<ordered_json> reach(context& ctx, std::string peer) {
  const endpoint to = co_await find_peer(ctx, peer);
  ordered_json all = ordered_json::array();
  for (const candidate& one : co_await explain_peer(ctx, to))
    all.push_back(
        {{"transport", one.transport}, {"outcome", text_of(one.result)}, {"why", one.why}});
  co_await ctx.world().barrier();
  co_return ordered_json{
      {"from", fmt::format("rank {}", ctx.world().rank())}, {"peer", peer}, {"transports", all}};
}

void show_reach(const ordered_json& all) {
  std::string text = fmt::format("from {} to {}\n", all["from"].get<std::string>(),
                                 all["peer"].get<std::string>());
  for (const auto& one : all["transports"])
    text += fmt::format("  {:<6} {:<9} {}\n", one["transport"].get<std::string>(),
                        one["outcome"].get<std::string>(), one["why"].get<std::string>());
  fmt::print("{}", text);
}

ordered_json routes(const options& chosen, const std::vector<std::size_t>& sizes, bool measures) {
  const bool cma = info::try_reading_another_process().empty();
  const context ctx(chosen);
  ordered_json all = ordered_json::array();
  for (const std::size_t bytes : sizes) {
    ordered_json ways = ordered_json::array();
    for (const route& r : explain_routes(ctx, bytes, cma))
      ways.push_back({{"when", r.when}, {"way", r.way}, {"why", r.why}});
    all.push_back({{"bytes", bytes}, {"routes", ways}});
    if (!measures) continue;
    try {
      for (const info::measured_way& one : info::measure(chosen, bytes))
        all.back()["half_round_trip_us"][one.way] = one.half_trip;
    } catch (const error& e) {
      all.back()["not_measured"] = e.what();
    }
  }
  return all;
}

void show_routes(const ordered_json& all) {
  for (const auto& one : all) {
    fmt::print("{} bytes\n", one["bytes"].get<std::size_t>());
    for (const auto& r : one["routes"]) {
      fmt::print("  {}: {}\n", r["when"].get<std::string>(), r["way"].get<std::string>());
      fmt::print("      {}\n", r["why"].get<std::string>());
    }
    if (one.contains("not_measured"))
      fmt::print("  could not be measured: {}\n", one["not_measured"].get<std::string>());
    if (!one.contains("half_round_trip_us")) continue;
    std::string times;
    for (const auto& [way, us] : one["half_round_trip_us"].items())
      times += fmt::format("{}{} {}", times.empty() ? "" : ", ", way, info::without_exponent(us));
    fmt::print("  measured now, half a round trip in µs: {}\n", times);
  }
}

/// A launcher of PMIx does not answer for a rank that has ended: all ranks stay until each has a
/// context.
task<void> meet_others(context& ctx) {
  constexpr std::chrono::seconds enough{10};  // other ranks may run other programs
  static_cast<void>(co_await as_result(within(enough, ctx.world().barrier())));
}

std::string describe_context(const options& chosen) {
  context ctx(chosen);
  std::string text = ctx.describe();
  run(ctx, meet_others(ctx));
  return text;
}

int answer(const request& wanted) {
  if (wanted.versions) {  // before the environment, which may be invalid
    const ordered_json all = info::versions();
    wanted.as_json ? fmt::print("{}\n", all.dump(2)) : info::show_versions(all);
    return 0;
  }
  if (wanted.attach_to != 0) {  // nor is the environment that of the other process
    fmt::print("{}", info::dump_of(wanted.attach_to, wanted.as_json));
    return 0;
  }
  if (!wanted.traces.empty()) {
    fmt::print("{}", info::merge_traces(wanted.traces));
    return 0;
  }
  const options now = options::from_environment();
  options quiet = now;
  quiet.trace_file.clear();  // this context has no events for a trace
  quiet.call_tree_file.clear();
  quiet.metrics_file.clear();
  if (!wanted.topics_at.empty()) {
    const ordered_json all = info::topics(quiet, wanted.topics_at);
    wanted.as_json ? fmt::print("{}\n", all.dump(2)) : info::show_topics(all);
    return 0;
  }
  if (wanted.why && wanted.about.size() == 1 && is_peer(wanted.about.front())) {
    context ctx(quiet);
    const ordered_json all = run(ctx, reach(ctx, wanted.about.front()));
    wanted.as_json ? fmt::print("{}\n", all.dump(2)) : show_reach(all);
    return 0;
  }
  if (wanted.why && std::any_of(wanted.about.begin(), wanted.about.end(), info::is_collective)) {
    const ordered_json all = info::algorithms(wanted.about);
    wanted.as_json ? fmt::print("{}\n", all.dump(2)) : info::show_algorithms(all);
    return 0;
  }
  if (wanted.why) {
    std::vector<std::size_t> sizes;
    for (const std::string& text : wanted.about) sizes.push_back(info::bytes_of(text, "--why"));
    if (sizes.empty()) sizes = usual_sizes;
    const ordered_json all = routes(quiet, sizes, !wanted.about.empty());
    wanted.as_json ? fmt::print("{}\n", all.dump(2)) : show_routes(all);
    return 0;
  }
  ordered_json report;
  report["version"] = version();
  report["parts"] = info::parts();
  report.update(info::variables(now));
  report["machine"] = machine();
  report["starters"] = info::starters();
  if (!wanted.as_json) show_surroundings(report, wanted.experiments);
  // To enter a job means to wait for its other ranks, and to take a rank from the program.
  const bool waits = info::would_wait(report["starters"]);
  if (waits) quiet.standalone = true;
  // If no context can be made, the missing features are still of interest.
  int status = 0;
  try {
    report["context"] = lines_of(describe_context(quiet));
    if (waits)
      report["context"].push_back(
          "the job was not entered; weft-info --why rank:N does, as one of its ranks");
  } catch (const error& e) {
    report["context"] = lines_of(fmt::format("cannot be made: {}", e.what()));
    status = 1;
  }
  wanted.as_json ? fmt::print("{}\n", report.dump(2)) : show_context(report);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const runtime::inherited_state inherited;  // it waits for a process that it starts
  request wanted;
  CLI::App app(
      "Shows weft's version, its variables, what this machine offers and what a context makes of "
      "it.");
  app.add_flag("--version", wanted.versions,
               "the versions of weft, of what it was built with and of what this machine has, with "
               "a warning of each that does not fit");
  app.add_flag("--experiments", wanted.experiments,
               "also the variables for experiments; without this only those that are set");
  app.add_flag("--json", wanted.as_json, "as JSON");
  auto* why =
      app.add_option("--why", wanted.about,
                     "explain which way messages of these sizes (bytes, also with k, m or g) take "
                     "over shared memory, and why, and measure each way between two threads; "
                     "without a size: for a list, without measuring. Or which transports "
                     "were tried to reach a peer, and what came of it: rank:N of the job, or an "
                     "address of a listener, which then sees a requester come and go. Or which "
                     "algorithm a collective uses: its name, the size of a rank's part, and the "
                     "ranks, such as all_reduce:1m:8, or the hosts and the ranks of each, such as "
                     "all_reduce:1m:2x4");
  why->expected(0, -1);
  app.add_option("--attach", wanted.attach_to,
                 "print what a running process of the same user waits for, as a dump signal would; "
                 "the process goes on")
      ->type_name("PID")
      ->check(CLI::PositiveNumber);
  app.add_option("--merge-traces", wanted.traces,
                 "write one trace, the first file, out of those of the ranks of a job, which may "
                 "have run on several hosts (WEFT_TRACE): for Perfetto, on one clock")
      ->type_name("ALL.json TRACE.json")
      ->expected(2, 1 << 20);
  auto* topics = app.add_subcommand(
      "topics",
      "Lists the topics of a program that listens at an address: the types, publishers, "
      "and subscribers with their policies and counters.");
  topics->add_option("address", wanted.topics_at, "such as any://host:4567 or unix://name")
      ->required();
  topics->add_flag("--json", wanted.as_json, "as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  wanted.why = why->count() != 0;
  std::erase_if(wanted.about, [](const std::string& s) { return s.empty() || s == "true"; });
  try {
    return answer(wanted);
  } catch (const std::exception& e) {
    fmt::print(stderr, "weft-info: {}\n", e.what());
    return 1;
  }
}
