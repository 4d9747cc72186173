// SPDX-License-Identifier: Apache-2.0
#include "compare/series.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "output/json_lines.hpp"

namespace weft::bench {
namespace {

using to = target::reference;
using sense = target::sense;

const std::vector<std::size_t> middle_sizes{kib, 4 * kib, 8 * kib, 16 * kib, 64 * kib};
const std::vector<std::size_t> large_sizes{64 * kib, 256 * kib, mib, 4 * mib};

}  // namespace

job make_job(const char* bench, std::vector<std::size_t> sizes, std::size_t window,
             const char* buffers, double effort) {
  job result;
  result.bench = bench;
  result.sizes = std::move(sizes);
  result.window = window;
  result.buffers = buffers;
  result.effort = effort;
  return result;
}

void add_overlap_targets(std::vector<target>& targets, const std::vector<std::size_t>& sizes,
                         double slow_down) {
  for (const char* pattern : {"both_compute", "receiver_blocked", "sender_blocked"})
    targets.push_back({"overlap", sizes, pattern, "excess_us", to::absolute, "", sense::at_most,
                       overlap_excess_us});
  targets.push_back(
      {"overlap", sizes, "slow_down", "beyond_copy", to::absolute, "", sense::at_most, slow_down});
}

std::vector<series> series_for(const std::string& transport, int rounds, double effort) {
  const int fewer = std::max(1, rounds / 2);
  // Each overlap sample takes milliseconds with any library: so fewer samples.
  const auto overlap = make_job("overlap", overlap_sizes, 1, "warm", effort * 0.4);
  if (transport == "tcp")
    return {{"latency", make_job("latency", {8, 64, 4 * kib}, 1, "warm", effort), rounds},
            {"rate", make_job("rate", {64}, 64, "warm", effort), rounds},
            {"bandwidth", make_job("bandwidth", {mib, 4 * mib}, 1, "warm", effort), rounds},
            {"overlap", overlap, fewer}};
  if (transport == "qdma")
    return {
        {"latency", make_job("latency", {4, 64, 256, kib, 4 * kib}, 1, "warm", effort), rounds},
        {"bandwidth",
         make_job("bandwidth", {4 * kib, 16 * kib, 64 * kib, 256 * kib, mib}, 1, "warm", effort),
         rounds}};
  if (transport != "shm")
    throw std::invalid_argument("no comparison is defined for the transport " + transport +
                                "; there are shm, tcp and qdma");

  auto small_and_middle = middle_sizes;
  small_and_middle.insert(small_and_middle.begin(), 8);
  auto alltoall = make_job("alltoall", {kib}, 1, "warm", effort);
  alltoall.ranks = 8;
  return {{"latency", make_job("latency", small_and_middle, 1, "warm", effort), rounds},
          {"rate", make_job("rate", {8}, 64, "warm", effort), rounds},
          {"bandwidth", make_job("bandwidth", large_sizes, 1, "warm", effort), rounds},
          {"bandwidth window", make_job("bandwidth", large_sizes, 8, "warm", effort), rounds},
          {"bandwidth cold", make_job("bandwidth", large_sizes, 32, "cold", effort), rounds},
          {"overlap", overlap, fewer},
          {"alltoall", alltoall, fewer}};
}

std::vector<target> targets_for(const std::string& transport) {
  if (transport == "qdma") return {};  // to repeat an experiment
  std::vector<target> targets;
  if (transport == "shm") {
    targets = {
        {"latency", {8}, "", "half_rtt_us", to::best_peer, "", sense::at_most, 0.65},
        {"latency", {8}, "", "half_rtt_us", to::named, "raw cache_line", sense::at_most, 1.4},
        {"rate", {8}, "", "mmsg_s", to::best_peer, "", sense::at_least, 2.5},
        {"latency", middle_sizes, "", "half_rtt_us", to::best_peer, "", sense::at_most, 0.85},
        {"bandwidth", large_sizes, "", "mb_s", to::best_peer, "", sense::at_least, 1.5},
        {"bandwidth window", large_sizes, "", "mb_s", to::best_peer, "", sense::at_least, 1.5},
        {"bandwidth", large_sizes, "", "mb_s", to::named, "raw pipelined_copy", sense::at_least,
         0.85},
        {"bandwidth cold", large_sizes, "", "mb_s", to::best_peer, "", sense::at_least, 1.5},
        {"bandwidth cold", large_sizes, "", "mb_s", to::named, "raw pipelined_copy",
         sense::at_least, 0.85},
        {"alltoall", {kib}, "", "us_per_message", to::named, "Open MPI vader", sense::at_most, 1},
    };
  } else {
    targets = {
        {"latency", {64}, "", "half_rtt_us", to::named, "raw socket", sense::at_most, 1.05},
        {"latency", {64}, "", "half_rtt_us", to::best_peer, "", sense::at_most, 0.9},
        {"rate", {64}, "", "mmsg_s", to::named, "ZeroMQ tcp", sense::at_least, 2},
        {"rate", {64}, "", "mmsg_s", to::named, "Open MPI tcp", sense::at_least, 20},
        {"bandwidth", {mib, 4 * mib}, "", "mb_s", to::best_peer, "", sense::at_least, 1.05},
        {"bandwidth", {mib, 4 * mib}, "", "mb_s", to::named, "raw socket", sense::at_least, 1.05},
    };
  }
  // The mean too: a progress thread that takes the core in whole time slices does not show in the
  // median.
  for (const char* metric : {"half_rtt_us", "mean"})
    targets.push_back(
        {"latency", {8, 4 * kib}, "", metric, to::named, weft_polling, sense::at_most, 1.05});
  add_overlap_targets(targets, overlap_sizes, 0.02);
  return targets;
}

bool more_is_better(const std::string& metric) {
  return metric == "mmsg_s" || metric == "mb_s" || metric == mop_s;
}

std::string metric_of(const std::string& bench, const std::string& pattern) {
  if (bench == "latency") return "half_rtt_us";
  if (bench == "rate") return "mmsg_s";
  if (bench == "bandwidth") return "mb_s";
  if (bench == "alltoall") return "us_per_message";
  if (bench == start_of_job) return std::string(ms_per_job);
  if (bench == kernel_bench) return std::string(solve_ms);
  if (bench == nas_bench) return std::string(mop_s);
  if (pattern.starts_with("computing")) return "beyond_us";
  if (bench != "overlap") return std::string(us_per_call);
  return pattern == "slow_down" ? "beyond_copy" : "excess_us";
}

}  // namespace weft::bench
