// SPDX-License-Identifier: Apache-2.0
// weft's calls beside those of other libraries, whose programs are bench/peers/*_calls.cpp. Each
// has a short run of its own in each round, on the same two cores.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compare/contestant.hpp"
#include "compare/rounds.hpp"
#include "messages/calls.hpp"
#include "output/stats.hpp"
#include "stage/report.hpp"
#include "support/affinity.hpp"
#include "support/subprocess.hpp"

namespace weft::bench::calls_command {
namespace {

struct other_library {
  const char* name;
  const char* program;
  const char* packages;
};
constexpr std::array<other_library, 3> others{
    {{"Asio", "weft-peer-calls-asio", "libasio-dev"},
     {"Cap'n Proto", "weft-peer-calls-capnp", "libcapnp-dev capnproto"},
     {"gRPC", "weft-peer-calls-grpc", "libgrpc++-dev libprotobuf-dev protobuf-compiler-grpc"}}};
constexpr std::array<const char*, 2> transports{"shm", "tcp"};

std::filesystem::path this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

std::string weft_over(const std::string& transport) { return "weft over " + transport; }

command with_options(std::vector<std::string> words, const request& wanted) {
  words.insert(words.end(), {"--size", fmt::format("{}", fmt::join(wanted.sizes, ",")),
                             "--outstanding", fmt::format("{}", wanted.outstanding), "--effort",
                             fmt::format("{}", wanted.effort)});
  return {std::move(words), {}};
}

contestant own(const request& wanted, const std::string& transport) {
  const auto run = with_options({this_program().string(), "calls", "--json", "--rounds", "1",
                                 "--transport", transport, "--progress", wanted.chosen.progress},
                                wanted);
  return {.name = weft_over(transport), .part = role::own, .about = {}, .run = [run](const job&) {
            auto lines = lines_of(run);
            for (auto& line : lines) line["pattern"] = line["by"];
            return lines;
          }};
}

contestant other(const request& wanted, const other_library& which) {
  const auto program = this_program().parent_path() / which.program;
  return {.name = which.name, .about = {}, .run = [=, wanted = wanted](const job&) {
            if (!find_program(program.string()))
              throw std::runtime_error(fmt::format(
                  "{} was not built; apt-get install {}, then configure and build again",
                  program.string(), which.packages));
            auto lines = lines_of(with_options({program.string()}, wanted));
            for (auto& line : lines) {
              line["pattern"] = line["callers"] == 1 ? "one" : "many";
              line["us"] = line["us_per_call"];
            }
            return lines;
          }};
}

/// A row of the table, for each size: what a contestant did, and weft's inline call for that.
struct row {
  std::string contestant;
  std::string transport;
  const char* pattern;
  std::string by;
  const char* inline_call;
};

std::vector<row> rows() {
  std::vector<row> all;
  for (const char* transport : transports)
    for (const char* by :
         {"messages", "inline", "coroutine", "typed", "inline, many", "coroutine, many"}) {
      const bool many = std::string(by).ends_with("many");
      all.push_back({weft_over(transport), transport, by, by, many ? "inline, many" : "inline"});
    }
  for (const auto& which : others) {
    all.push_back({which.name, "tcp", "one", which.name, "inline"});
    all.push_back({which.name, "tcp", "many", fmt::format("{}, many", which.name), "inline, many"});
  }
  return all;
}

void show(const request& wanted, const results& measured) {
  report out({{"size", "size"},
              {"over", "transport"},
              {"by", "by"},
              {"µs each", "us"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"× messages", "to_messages"},
              {"× inline", "to_inline"},
              {"× inline, shm", "to_inline_over_shm"},
              {"million/s", "million_per_s"}},
             wanted.chosen.as_json);
  for (const std::size_t size : wanted.sizes)
    for (const row& one : rows()) {
      const auto us_of = [&](const std::string& contestant, const char* pattern) {
        return measured.rounds_of({"calls", pattern, size}, contestant, "us");
      };
      const auto us = us_of(one.contestant, one.pattern);
      if (us.empty()) continue;  // it was left out, or does not take this size
      settings over = wanted.chosen;
      over.transport = one.transport;
      auto line = make_line(head_of("calls", over, size), "us", us);
      line["by"] = one.by;
      const auto add_ratio = [&](const char* key, const std::string& to, const char* pattern) {
        if (const auto ratio = paired_ratio(us, us_of(to, pattern))) line[key] = ratio->median;
      };
      const auto own = weft_over(one.transport);
      add_ratio("to_messages", own, "messages");
      add_ratio("to_inline", own, one.inline_call);
      add_ratio("to_inline_over_shm", weft_over("shm"), one.inline_call);
      line["million_per_s"] = 1 / median(us);
      line["library"] = measured.sample_line({"calls", one.pattern, size}, one.contestant)
                            .value("library", std::string("weft"));
      out.add(line);
    }
  out.finish();
}

}  // namespace

void beside_peers(const request& asked) {
  request wanted = asked;
  if (wanted.sizes.empty()) wanted.sizes = {8, 64, 1 << 10};
  if (wanted.rounds == 0) wanted.rounds = 7;
  pair_cores();  // reports errors before anything is started
  std::vector<contestant> all;
  for (const char* transport : transports) all.push_back(own(wanted, transport));
  for (const auto& which : others) all.push_back(other(wanted, which));
  const auto measured = run_rounds({{"calls", {}, wanted.rounds}}, all);
  for (const auto& failed : measured.failures())
    if (failed.contestant.starts_with("weft") || failed.wrong)
      throw std::runtime_error(fmt::format("{}: {}", failed.contestant, failed.reason));
  show(wanted, measured);
}

}  // namespace weft::bench::calls_command
