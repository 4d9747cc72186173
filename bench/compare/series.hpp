// SPDX-License-Identifier: Apache-2.0
// What is measured, and what the design promises about it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/job.hpp"

namespace weft::bench {

inline constexpr std::size_t kib = 1024;
inline constexpr std::size_t mib = kib * kib;

/// Of messages that meet computing processes.
inline const std::vector<std::size_t> overlap_sizes{8, 64 * kib, mib, 8 * mib};

/// One benchmark with its sizes; every contestant does all of it once in each round.
struct series {
  std::string name;  ///< "latency", "bandwidth cold": targets refer to it
  job what;
  int rounds;
};

job make_job(const char* bench, std::vector<std::size_t> sizes, std::size_t window,
             const char* buffers, double effort);

/// The series of a transport, `rounds` rounds each (fewer of those that take long), `effort` as in
/// job.
std::vector<series> series_for(const std::string& transport, int rounds, double effort);

/// A promise of the design: a figure of weft against another figure of the same round, or against a
/// bound of its own.
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

/// Adds what holds of every pattern of overlap: how long the blocked side may wait beyond the
/// transfer, and how much longer an application may take beyond the copy, as a share.
void add_overlap_targets(std::vector<target>& targets, const std::vector<std::size_t>& sizes,
                         double slow_down);

/// Names that targets know contestants by.
inline constexpr const char* weft_dedicated = "weft dedicated";
inline constexpr const char* weft_polling = "weft polling";

std::vector<target> targets_for(const std::string& transport);

/// Whether more of this metric is better (rates), or less (times).
bool more_is_better(const std::string& metric);

/// The metric in which figures of a benchmark are shown; `pattern` matters for overlap.
std::string metric_of(const std::string& bench, const std::string& pattern);

}  // namespace weft::bench
