// SPDX-License-Identifier: Apache-2.0
// The measured series, and the targets of the design.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/job.hpp"

namespace weft::bench {

inline constexpr std::size_t kib = 1024;
inline constexpr std::size_t mib = kib * kib;

/// The message sizes of overlap.
inline const std::vector<std::size_t> overlap_sizes{8, 64 * kib, mib, 8 * mib};

/// One benchmark with its sizes; every contestant does all of it once in each round.
struct series {
  std::string name;  ///< "latency", "bandwidth cold": targets refer to it
  job what;
  int rounds;
  int spinners = 0;  ///< processes outside of the job that want its cores meanwhile
};

job make_job(const char* bench, std::vector<std::size_t> sizes, std::size_t window,
             const char* buffers, double effort);

/// The series of a transport, `rounds` rounds each (fewer of those that take long), `effort` as in
/// job.
std::vector<series> series_for(const std::string& transport, int rounds, double effort);

/// A target of the design: a figure of weft against another figure of the same round, or against an
/// absolute bound.
struct target {
  enum class reference {
    best_peer,  ///< the library with the best median
    named,      ///< the contestant `against`
    absolute,   ///< none: `bound` is in the unit of the metric
  };
  enum class sense { at_most, at_least };

  std::string series;
  std::vector<std::size_t> sizes;
  std::string pattern;  ///< of overlap; else empty
  std::string metric;   ///< key in the JSON line
  reference to;
  std::string against;  ///< for reference::named
  sense direction;
  double bound;
};

/// The blocked side of every overlap pattern may wait this much longer than the transfer takes.
constexpr double overlap_excess_us = 50;

/// Adds the targets of every pattern of overlap: the wait of the blocked side beyond the transfer,
/// and the slow-down of an application beyond the copy, as a share.
void add_overlap_targets(std::vector<target>& targets, const std::vector<std::size_t>& sizes,
                         double slow_down);

/// The contestants' names in targets.
inline constexpr const char* weft_dedicated = "weft dedicated";
inline constexpr const char* weft_polling = "weft polling";

std::vector<target> targets_for(const std::string& transport);

/// The benchmark of a series: the first word of its name.
inline std::string bench_of(const std::string& series) {
  return series.substr(0, series.find(' '));
}

/// In every line: the mean of the metric.
inline constexpr const char* mean_metric = "mean";

/// Whether more of this metric is better (rates), or less (times). Not for the mean, which is as
/// what it is the mean of.
bool more_is_better(const std::string& metric);

/// The metric of a benchmark's figures; `pattern` matters for overlap.
std::string metric_of(const std::string& bench, const std::string& pattern);

}  // namespace weft::bench
