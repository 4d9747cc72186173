// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "page/lines_chart.hpp"

namespace weft::bench::page {
namespace {

// The main figure of a line comes before those that are derived from it. The first one that most
// lines have is drawn.
constexpr std::array<metric, 26> metrics{{
    {"excess_us", "wait beyond the transfer", "µs"},
    {"half_rtt_us", "half a round trip", "µs"},
    {"mb_s", "bandwidth", "10⁶ B/s"},
    {"mmsg_s", "rate", "10⁶ messages/s"},
    {"us_per_call", "time of a call", "µs"},
    {"us_per_message", "time of a message", "µs"},
    {"beyond_us", "time beyond the computation", "µs"},
    {"ms_per_job", "time of a job", "ms"},
    {"us", "time", "µs"},
    {"ns", "time", "ns"},
    {"seconds", "time", "s"},
    {"cpu_percent", "processor time", "% of a core"},
    {"instructions", "instructions", ""},
    {"layer_ns", "time of the layer", "ns"},
    {"above_transport_ns", "time above the transport", "ns"},
    {"cost", "cost", ""},
    {"rss_kib_each", "resident memory", "KiB"},
    {"quiet_half_rtt_us", "half a round trip of the quiet sender", "µs"},
    {"switches_per_kmsg", "switches in 1000 messages", ""},
    {"transfer_us", "transfer", "µs"},
    {"of_raw", "factor to raw", ""},
    {"to_basic", "factor to basic", ""},
    {"to_messages", "factor to messages", ""},
    {"ratio", "ratio", ""},
    {"gain", "gain", ""},
    {"us_per_barrier", "time of a barrier", "µs"},
}};

constexpr std::array<std::string_view, 14> of_samples{
    "samples", "min", "p10",  "p25",    "p50",   "p75",       "p90",
    "p99",     "max", "mean", "rounds", "count", "deviation", "target"};

}  // namespace

const metric* find_metric(const std::string& key) {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const metric& one) { return one.key == key; });
  return found == metrics.end() ? nullptr : &*found;
}

const metric* metric_of(const std::vector<json>& lines) {
  const metric* best = nullptr;
  std::size_t most = 0;
  for (const metric& one : metrics) {
    const auto count =
        static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const json& line) {
          return line.contains(one.key) && line[one.key].is_number();
        }));
    if (2 * count > lines.size()) return &one;
    if (count > most) {
      most = count;
      best = &one;
    }
  }
  return best;
}

bool describes_samples(const std::string& key) {
  return std::find(of_samples.begin(), of_samples.end(), key) != of_samples.end();
}

}  // namespace weft::bench::page
