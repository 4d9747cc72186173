// SPDX-License-Identifier: Apache-2.0
#include "compare/contestant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string_view>

#include "output/json_lines.hpp"
#include "peers/installation.hpp"
#include "peers/launch.hpp"
#include "peers/ucx.hpp"
#include "raw/raw.hpp"
#include "support/clock.hpp"

namespace weft::bench {
namespace {

constexpr std::chrono::seconds time_limit{180};

/// An MPI may fall back to another configuration: checks that the requested one was measured.
void check_ranks(const std::vector<json>& lines, bool on_weft) {
  for (const auto& line : lines) {
    const int ranks = line.at("ranks").get<int>();
    const int with_weft = line.at(std::string(ranks_on_weft)).get<int>();
    if (with_weft != (on_weft ? ranks : 0))
      throw std::runtime_error(fmt::format(
          "{} of its {} ranks had libweft-fi.so loaded, so it is not what it should be; {}",
          with_weft, ranks,
          on_weft
              ? "weft-mpirun --verify tells more"
              : "unset FI_PROVIDER_PATH, FI_PROVIDER and the variables that begin with OMPI_MCA_"));
  }
}

/// Starts a job several times, from the call of its launcher to the launcher's end.
std::vector<json> start_jobs(const command& what, double effort) {
  const auto jobs = std::max<std::size_t>(3, static_cast<std::size_t>(5 * effort));
  std::vector<double> took;
  std::vector<json> lines;
  while (took.size() != jobs) {
    const auto start = now_ns();
    lines = lines_of(what);
    took.push_back(us_between(start, now_ns()) / 1000);
  }
  for (auto& line : lines)
    line.update(make_line({.bench = start_of_job,
                           .transport = line.value("transport", std::string()),
                           .progress = line.value("progress", std::string())},
                          ms_per_job, took));
  return lines;
}

contestant make_peer(const peer& one, const std::filesystem::path& bin) {
  return {.name = one.name,
          .part = one.on_weft ? role::own : role::peer,
          .about = one.about,
          .run =
              [one, bin](const job& what) {
                const auto run = peer_command(one, what, bin);
                auto lines =
                    what.bench == start_of_job ? start_jobs(run, what.effort) : lines_of(run);
                if (one.is_mpi()) check_ranks(lines, one.on_weft);
                return lines;
              },
          .takes_part = [one](const job& what) { return one.takes_part(what); }};
}

}  // namespace

std::vector<json> lines_of(const command& what) {
  const auto result = run_command(what, time_limit);
  auto lines = parse_lines(result.out);
  for (const auto& line : lines)  // such a program ends with an error as well
    if (line.contains("wrong"))
      throw wrong_answer(
          fmt::format("{}\n  command: {}", line["wrong"].get<std::string>(), what.text()));
  if (!result.ok())
    throw std::runtime_error(fmt::format("{}\n  command: {}", result.reason(), what.text()));
  if (lines.empty())
    throw std::runtime_error(fmt::format("it printed no JSON line\n  command: {}", what.text()));
  return lines;
}

contestant make_own(const own_contestant& own) {
  return {.name = own.name, .part = role::own, .about = own.about, .run = [own](const job& what) {
            command run{own.program, {}};
            run.argv.push_back(what.bench);
            run.argv.emplace_back("--json");
            for (const auto& argument : what.arguments()) run.argv.push_back(argument);
            for (const auto& argument : own.arguments) run.argv.push_back(argument);
            return lines_of(run);
          }};
}

std::vector<contestant> make_peers(const std::string& transport, const std::filesystem::path& bin) {
  std::vector<contestant> result;
  for (const auto& one : known_peers(transport)) result.push_back(make_peer(one, bin));
  return result;
}

std::vector<contestant> make_mpi(const std::string& transport, const std::filesystem::path& bin) {
  std::vector<contestant> result{make_peer(openmpi_on_weft(transport), bin)};
  for (const auto& one : known_peers(transport)) {
    if (!one.is_mpi() || one.name == "Open MPI UCX") continue;  // with their defaults only
    auto who = make_peer(one, bin);
    // Its own progress thread is the reference for overlap, and takes minutes with crowded ranks.
    if (one.progress == "async")
      who.takes_part = [](const job& what) { return what.bench == "overlap"; };
    result.push_back(std::move(who));
  }
  return result;
}

std::vector<contestant> make_installed(const std::string& named, const std::string& transport) {
  std::vector<contestant> result;
  for (const auto& one : installed_peers(installation::from(named), transport)) {
    auto who = make_peer(one, {});
    if (one.progress == "async")
      who.takes_part = [](const job& what) { return what.bench == "overlap"; };
    result.push_back(std::move(who));
  }
  return result;
}

contestant make_ucx(const std::filesystem::path& prefix, const std::string& transport) {
  const auto found = find_ucx(prefix);
  return {.name = found.name,
          .part = role::peer,
          .about = fmt::format("UCX itself, by its ucx_perftest; {}", prefix.string()),
          .run = [found, transport](const job& what) { return run_ucx(found, what, transport); },
          .takes_part = &ucx_takes_part};
}

std::vector<contestant> make_limits(const std::string& transport) {
  std::vector<contestant> result;
  std::vector<std::string_view> all{raw::cache_line, raw::slot_rate, raw::pipelined_copy, raw::cma,
                                    raw::direct_copy};
  if (transport == "tcp") all = {raw::tcp_socket};
  for (const auto limit : all)
    result.push_back({.name = fmt::format("raw {}", limit),
                      .part = role::limit,
                      .about = std::string(raw::about(limit)),
                      .run = [limit](const job& what) { return raw::measure(limit, what); },
                      .takes_part =
                          [limit](const job& what) {
                            const auto limits = raw::limits_of(what.bench);
                            return std::find(limits.begin(), limits.end(), limit) != limits.end();
                          }});
  return result;
}

}  // namespace weft::bench
