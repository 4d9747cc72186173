// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "output/table.hpp"
#include "raw/raw.hpp"
#include "support/job.hpp"

namespace weft::bench::raw_command {

using namespace raw;

namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = kib * kib;

struct request {
  std::vector<std::string> limits;
  std::vector<std::size_t> sizes{kib,      4 * kib,   8 * kib, 16 * kib,
                                 64 * kib, 256 * kib, mib,     4 * mib};
  double effort = 1.0;
  ring_shape ring;
  bool as_json = false;
};

/// The default jobs: small messages once, large ones as latency, warm and cold bandwidth.
std::vector<job> jobs_of(const request& wanted) {
  const auto make = [&](const char* bench, std::vector<std::size_t> sizes, std::size_t window,
                        const char* buffers) {
    job one;
    one.bench = bench;
    one.sizes = std::move(sizes);
    one.window = window;
    one.buffers = buffers;
    one.effort = wanted.effort;
    return one;
  };
  return {make("latency", {8}, 1, "warm"), make("rate", {8}, 64, "warm"),
          make("latency", wanted.sizes, 1, "warm"), make("bandwidth", wanted.sizes, 1, "warm"),
          make("bandwidth", wanted.sizes, 32, "cold")};
}

std::string kind_of(const job& what) {
  if (what.bench != "bandwidth") return what.bench;
  return what.buffers == "cold" ? fmt::format("bandwidth, window {}, cold", what.window)
                                : "bandwidth, one in flight";
}

void run(const request& wanted) {
  table out(
      {"measured", "limit", "size", "half round trip µs", "M messages/s", "MB/s", "p10", "p90"});
  const auto is_wanted = [&](std::string_view limit) {
    return wanted.limits.empty() ||
           std::find(wanted.limits.begin(), wanted.limits.end(), limit) != wanted.limits.end();
  };
  for (const auto& what : jobs_of(wanted)) {
    for (const auto limit : limits_of(what.bench)) {
      if (!is_wanted(limit)) continue;
      std::vector<json> lines;
      try {
        lines = measure(limit, what, wanted.ring);
      } catch (const std::runtime_error&
                   refused) {  // a limit that the machine refuses must not hide the others
        fmt::print(stderr, "{}, {} left out: {}\n", limit, kind_of(what), refused.what());
      }
      for (const auto& line : lines) {
        if (wanted.as_json) {
          print_line(line);
          continue;
        }
        const auto cell = [&](std::string_view key) {
          const auto found = line.find(std::string(key));
          return found == line.end() ? std::string() : figure_text(found->get<double>());
        };
        out.row({kind_of(what), std::string(limit), size_text(line["size"].get<std::size_t>()),
                 cell(half_rtt_us), cell(mmsg_s), cell(mb_s), cell("p10"), cell("p90")});
      }
    }
  }
  if (!wanted.as_json) out.print(stdout);
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("raw", "The limits of this machine, without any library");
  sub->add_option("--limit", wanted->limits, "Only these")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>{
          std::string(cache_line), std::string(slot_rate), std::string(pipelined_copy),
          std::string(streamed_copy), std::string(cma), std::string(direct_copy),
          std::string(tcp_socket)}));
  add_sizes(*sub, wanted->sizes, "Large messages");
  sub->add_option("--chunk", wanted->ring.chunk,
                  "Bytes of a chunk of the pipelined copy (2K to 32K make sense)")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{64}, 64 * mib));
  sub->add_option("--depth", wanted->ring.depth, "Chunks in its ring")->check(CLI::Range(1, 4096));
  sub->add_option("--effort", wanted->effort, "Factor on the number of samples")
      ->check(CLI::PositiveNumber);
  sub->add_flag("--json", wanted->as_json, "JSON lines instead of a table");
  sub->callback([wanted] { run(*wanted); });
}

}  // namespace weft::bench::raw_command
