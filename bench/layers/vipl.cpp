// SPDX-License-Identifier: Apache-2.0
// VIPL beside weft's own calls, in turns in the same two processes: half round trips and bandwidth;
// and what the paper on VIPL over shared memory shows: bandwidth by each kind of transfer, the
// first transfer of a connection against later ones, and both kinds of memory (figures 4 to 6:
// memory copy, block transfers and DMA are `ordinary`, `streaming` and `engine` here).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "layers/vipl_side.hpp"
#include "stage/loops.hpp"
#include "stage/report.hpp"

namespace weft::bench::vipl_command {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib;
constexpr std::size_t first_sends = 9;

struct request {
  settings chosen;
  job what{.bench = "vipl", .sizes = {8, kib, 8000, 64 * kib, 256 * kib, mib}};
  std::vector<std::string> kinds{"pipeline", "streaming", "cma", "direct", "engine"};
  std::vector<std::string> memories{"any", "own"};
  std::string level = "delivery";
  int rounds = 5;
  std::size_t in_flight = 8;
};

/// Each is one of `weft-bench kinds`, a transport, or a value of WEFT_SHM_COPY.
vipl_way way_of(const request& wanted, const std::string& kind, const std::string& memory) {
  vipl_way w{.transport = wanted.chosen.transport, .memory = memory, .level = wanted.level};
  if (kind == "ordinary" || kind == "streaming") {
    w.copy = "pipeline";
    w.stores = kind == "ordinary" ? "ordinary" : "streaming:4k";
  } else if (kind == "engine") {
    w.transport = "qdma";
    w.rendezvous = "get";  // in frames the processes would copy
  } else if (kind == "qdma" || kind == "tcp") {
    w.transport = kind;
  } else {
    w.copy = kind;
  }
  return w;
}

/// One VI of the measurement, with its samples of a size.
struct contestant {
  std::string kind, memory;
  std::unique_ptr<vipl_side> side;
  std::vector<double> latency, bandwidth, first, later;
};

json line_of(const request& wanted, const char* measure, std::size_t size, std::string_view metric,
             const std::vector<double>& samples) {
  json line = make_line(head_of("vipl", wanted.chosen, size), metric, samples);
  line["measure"] = measure;
  if (std::string_view(measure) == "bandwidth") line["window"] = wanted.in_flight;
  return line;
}

class measurement {
 public:
  measurement(pair_member& member, const request& wanted, pid_t stage)
      : member_(member),
        wanted_(wanted),
        own_(options_of(wanted.chosen)),
        out_({{"measure", "measure"},
              {"size", "size"},
              {"api", "api"},
              {"kind", "kind"},
              {"memory", "memory"},
              {"half round trip µs", "half_rtt_us"},
              {"MB/s", "mb_s"},
              {"µs", "us_per_call"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"against weft", "ratio"},
              {"first against later", "to_later"}},
             wanted.chosen.as_json) {
    own_.meet(member);
    const auto add = [&](const std::string& kind, const std::string& memory) {
      all_.push_back({kind, memory, {}, {}, {}, {}, {}});
      all_.back().side = std::make_unique<vipl_side>(
          member, way_of(wanted, kind, memory), fmt::format("b{}-{}", stage, all_.size()),
          *std::max_element(wanted.what.sizes.begin(), wanted.what.sizes.end()), wanted.in_flight);
    };
    add("", "own");  // the same choice of kinds as weft's own
    for (const std::string& kind : wanted.kinds)
      for (const std::string& memory : wanted.memories) add(kind, memory);
  }

  void run() {
    if (tells())
      out_.title(
          fmt::format("VIPL ({}) beside weft's own calls; {} rounds in turns; ratios: "
                      "medians of the pairs",
                      wanted_.level, wanted_.rounds));
    for (const std::size_t size : wanted_.what.sizes) {
      if (tells()) out_.measuring(fmt::format("{} bytes", size));
      measure(size);
      if (tells()) print(size);
    }
    if (tells()) out_.finish();
    member_.barrier();
  }

 private:
  bool tells() const { return member_.rank() == 0; }

  void measure(std::size_t size) {
    latency_.clear();
    bandwidth_.clear();
    for (contestant& c : all_) c.latency = c.bandwidth = c.first = c.later = {};
    const double effort = wanted_.what.effort / wanted_.rounds;
    const plan trips = latency_plan(size, effort),
               streams = window_plan(size, wanted_.in_flight, effort);
    job windowed = wanted_.what;
    windowed.window = wanted_.in_flight;
    windowed.effort = effort;
    for (int round = 0; round != wanted_.rounds; ++round) {
      const bench::side own{own_.ctx, own_.peer, member_.rank()};
      keep(latency_, weft::run(own_.ctx, half_round_trips(own, size, trips)));
      member_.barrier();
      keep(bandwidth_, weft::run(own_.ctx, windows(own, size, windowed)),
           static_cast<double>(size));
      member_.barrier();
      for (contestant& c : all_) {
        keep(c.latency, c.side->half_round_trips(size, trips));
        keep(c.bandwidth, c.side->windows(size, streams));
        std::vector<double> sends = c.side->from_the_first(size, first_sends);
        if (tells()) {
          c.first.push_back(sends.front());
          c.later.push_back(median({sends.begin() + 1, sends.end()}));
        }
        member_.barrier();
      }
    }
  }

  void keep(std::vector<double>& in, const std::vector<double>& samples, double factor = 1) {
    if (tells()) in.push_back(median(samples) * factor);
  }

  void print(std::size_t size) {
    const auto of_weft = [&](const char* measure, std::string_view metric,
                             const std::vector<double>& samples) {
      json line = line_of(wanted_, measure, size, metric, samples);
      line["api"] = "weft";
      out_.add(line);
    };
    of_weft("latency", half_rtt_us, latency_);
    of_weft("bandwidth", mb_s, bandwidth_);
    for (const contestant& c : all_) {
      const auto add = [&](const char* measure, std::string_view metric,
                           const std::vector<double>& samples, const char* key,
                           const std::vector<double>& against) {
        json line = line_of(wanted_, measure, size, metric, samples);
        line["api"] = "vipl";
        line["kind"] = c.kind.empty() ? "chosen" : c.kind;
        line["memory"] = c.memory;
        line["level"] = wanted_.level;
        if (key) line[key] = median_ratio(samples, against);
        out_.add(line);
      };
      add("latency", half_rtt_us, c.latency, "ratio", latency_);
      add("bandwidth", mb_s, c.bandwidth, "ratio", bandwidth_);
      add("first", us_per_call, c.first, "to_later", c.later);
      add("later", us_per_call, c.later, nullptr, {});
    }
  }

  pair_member& member_;
  const request& wanted_;
  place own_;
  std::vector<contestant> all_;
  std::vector<double> latency_, bandwidth_;  // weft's own
  report out_;
};

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("vipl", "The VI Provider Library beside weft's own calls");
  sub->add_option("--rounds", wanted->rounds, "Turns of all")->check(CLI::PositiveNumber);
  sub->add_option("--window", wanted->in_flight, "Messages in flight, of bandwidth")
      ->check(CLI::Range(1, 1000));
  sub->add_option("--kinds", wanted->kinds,
                  "Kinds of transfer: ordinary, streaming and engine as of `kinds`; values of "
                  "WEFT_SHM_COPY; the transports qdma and tcp")
      ->delimiter(',');
  sub->add_option("--memory", wanted->memories, "any registered memory, own memory of the library")
      ->delimiter(',')
      ->check(CLI::IsMember({"any", "own"}));
  sub->add_option("--level", wanted->level, "unreliable, delivery, reliable")
      ->check(CLI::IsMember({"unreliable", "delivery", "reliable"}));
  add_job_options(*sub, wanted->what);
  add_settings(*sub, wanted->chosen);
  sub->callback([wanted] {
    const pair_options stage{
        .name = "vipl", .time_limit = std::chrono::minutes(20), .pin = wanted->chosen.pin};
    run_pair(stage, [&, self = ::getpid()](forked_member& member) {
      measurement(member, *wanted, self).run();
    });
  });
}

}  // namespace weft::bench::vipl_command
