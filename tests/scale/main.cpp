// SPDX-License-Identifier: Apache-2.0
// weft-scale: collectives of many ranks on a modelled network, under virtual time. docs/testing.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "scale/meet.hpp"
#include "scale/report.hpp"

namespace {

using namespace scale;

/// "all_reduce:4096": a collective and the bytes of one rank's part.
work parse_work(const std::string& text) {
  const auto colon = text.find(':');
  work w{};
  if (!weft::collectives::find_kind(text.substr(0, colon), w.what))
    throw std::invalid_argument(fmt::format("there is no collective {}", text));
  if (w.what == kind::barrier) return w;
  w.bytes = colon == std::string::npos ? 8 : std::stoul(text.substr(colon + 1));
  if (w.bytes == 0 || w.bytes % 8 != 0)
    throw std::invalid_argument(fmt::format("{}: bytes have to be a multiple of 8", text));
  return w;
}

/// "host:0.8,0.25,0.01,12.5": latency, overhead and gap in µs, bandwidth in GB/s.
void set_level(network& net, const std::string& text) {
  for (std::size_t l = 0; l != levels; ++l) {
    const std::string name = std::string(name_of(static_cast<level>(l))) + ":";
    if (!text.starts_with(name)) continue;
    double latency = 0, overhead = 0, gap = 0, bandwidth = 0;
    const int got = std::sscanf(text.c_str() + name.size(), "%lf,%lf,%lf,%lf", &latency, &overhead,
                                &gap, &bandwidth);
    if (got != 4 || latency < 0 || overhead < 0 || gap < 0 || bandwidth <= 0) break;
    net.costs[l] = {latency, overhead, gap, 1.0 / (bandwidth * 1'000)};
    return;
  }
  throw std::invalid_argument(fmt::format(
      "{} is no level with its costs; one is host:0.8,0.25,0.01,12.5 (latency, overhead and gap in "
      "µs, GB/s); levels are core, socket, host, rack",
      text));
}

struct output {
  bool as_json = false;
  std::string svg;
};

void run(const wishes& w, const output& to) {
  std::vector<finding> all;
  if (!to.as_json) fmt::print("{}", table_head());
  survey(w, [&](const finding& f) {
    fmt::print("{}", to.as_json ? json_line(f) : table_line(f));
    std::fflush(stdout);
    all.push_back(f);
  });
  if (to.svg.empty()) return;
  std::ofstream file(to.svg);
  file << drawing(all);
  if (!file.flush()) throw std::runtime_error(fmt::format("{} cannot be written", to.svg));
}

}  // namespace

int main(int argc, char** argv) {
  wishes w;
  output to;
  std::string machine = "rdma";
  std::vector<std::string> changed_levels, works;
  std::vector<weft::peer_id> meetings;
  placement places;
  CLI::App app{
      "Runs weft's collectives at many ranks in one process, under virtual time, on a modelled\n"
      "network (LogGP at each level of the machine); checks every result, and compares the time\n"
      "with a lower bound. * marks the algorithm that weft chooses. Equal options give equal "
      "figures."};
  app.add_option("--ranks", w.ranks, "sizes of the group")
      ->delimiter(',')
      ->check(CLI::Range(2, 65536));
  app.add_option("--work", works, "collectives with their bytes: all_reduce:4096,barrier")
      ->delimiter(',');
  app.add_flag("--all-algorithms", w.all_algorithms, "also those that weft does not choose");
  app.add_option("--network", machine, "between hosts")->check(CLI::IsMember({"rdma", "tcp"}));
  app.add_option("--level", changed_levels,
                 "costs of a level, as host:0.8,0.25,0.01,12.5 (µs, GB/s)");
  app.add_option("--per-socket", places.per_socket, "ranks")->check(CLI::PositiveNumber);
  app.add_option("--sockets", places.sockets, "of a host")->check(CLI::PositiveNumber);
  app.add_option("--hosts", places.hosts, "of a rack")->check(CLI::PositiveNumber);
  app.add_option("--most-memory", w.most_memory, "bytes of all ranks' data; more is left out");
  app.add_option("--meet", meetings,
                 "instead: so many ranks meet at rank 0, in real time over the loopback")
      ->delimiter(',')
      ->check(CLI::Range(2, 65536));
  app.add_flag("--json", to.as_json, "a line for each result");
  app.add_option("--svg", to.svg, "draws time by ranks into this file");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!meetings.empty()) {
      fmt::print("{}", meeting_head());
      for (const weft::peer_id ranks : meetings) fmt::print("{}", meeting_line(meet(ranks)));
      return 0;
    }
    if (machine == "tcp") w.machine = network::tcp();
    w.machine.places = places;
    for (const std::string& l : changed_levels) set_level(w.machine, l);
    if (!works.empty()) w.works.clear();
    for (const std::string& one : works) w.works.push_back(parse_work(one));
    run(w, to);
  } catch (const std::exception& e) {
    fmt::print(stderr, "weft-scale: {}\n", e.what());
    return 1;
  }
  return 0;
}
