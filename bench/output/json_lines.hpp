// SPDX-License-Identifier: Apache-2.0
// The output of every benchmark for programs: one JSON object on each line.
#pragma once

#include <cstddef>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "output/stats.hpp"

namespace weft::bench {

using json = nlohmann::ordered_json;

/// The measurement, and its configuration.
struct line_head {
  std::string bench;      ///< "latency", "rate", "bandwidth", "overlap", "alltoall", "raw"
  std::string transport;  ///< "shm", "tcp", ...
  std::string progress;   ///< "polling", "dedicated", ... as the contestant calls it
  std::size_t size = 0;   ///< bytes of a message
};

/// The keys of the three figures; every line has one of them.
inline constexpr std::string_view half_rtt_us = "half_rtt_us";
inline constexpr std::string_view mmsg_s = "mmsg_s";  ///< millions of messages in a second
inline constexpr std::string_view mb_s = "mb_s";      ///< megabytes (10^6) in a second

/// Of collective calls.
inline constexpr std::string_view us_per_call = "us_per_call";
/// Of the start of a job.
inline constexpr std::string_view ms_per_job = "ms_per_job";
/// Of a kernel: one solution of its problem.
inline constexpr std::string_view solve_ms = "solve_ms";
/// Of a program of the NAS Parallel Benchmarks, as it reports it: millions of its operations in a
/// second.
inline constexpr std::string_view mop_s = "mop_s";
/// In the lines of an MPI: the number of its ranks that had weft's provider loaded.
inline constexpr std::string_view ranks_on_weft = "ranks_on_weft";

/// A line with `metric` as the median of `samples`, and their count, percentiles and mean in the
/// unit of the metric (samples, p10, p50, p90, p99, mean).
json make_line(const line_head& head, std::string_view metric, const std::vector<double>& samples);

/// Writes `line` and flushes, so that a reader at the other end of a pipe sees it at once.
void print_line(const json& line, std::FILE* out = stdout);

/// The JSON objects among the lines of `text`. Launchers and libraries print warnings between them:
/// other lines are skipped.
std::vector<json> parse_lines(std::string_view text);

}  // namespace weft::bench
