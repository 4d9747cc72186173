// SPDX-License-Identifier: Apache-2.0
// How often collective calls are measured, how long the application computes during each, and the
// line about them. The same for weft and the MPIs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "output/json_lines.hpp"
#include "support/clock.hpp"
#include "support/job.hpp"
#include "support/plan.hpp"

namespace weft::bench {

/// The figure of calls during a computation: the time beyond the same computation alone. Negative:
/// less than the machine's own variation.
inline constexpr std::string_view beyond_us = "beyond_us";

/// The chosen patterns, and sizes: a barrier has none.
inline std::vector<std::string> patterns_of(const job& what) {
  return what.pattern == "all" ? collective_patterns : std::vector{what.pattern};
}
inline std::vector<std::size_t> sizes_of(const job& what) {
  return what.call == "barrier" ? std::vector<std::size_t>{0} : what.sizes;
}

/// How long the application computes during a call of `size` bytes: about as long as the call takes
/// alone, or much longer. A rule and no measurement, so that all contestants do equal work.
/// \return 0 for the pattern "plain"
inline double computation_us(std::size_t size, const std::string& pattern) {
  const auto bytes = static_cast<double>(size);
  if (pattern == "plain") return 0;
  return pattern == "computing" ? 10 + bytes / 1000 : 1000 + bytes / 200;
}

/// The calls of one batch. Ranks that share cores, or cores that others use, wait for time slices,
/// and a batch with computations should end soon.
/// \param crowded more ranks than cores
inline std::size_t calls_in_batch(std::size_t size, double compute_us, bool crowded) {
  std::size_t calls = crowded ? 5 : std::min<std::size_t>(40, latency_plan(size).per_batch);
  if (compute_us > 0)
    calls = std::min(calls, std::max<std::size_t>(5, static_cast<std::size_t>(5000 / compute_us)));
  return calls;
}

/// Collects batches until there are enough. Each rank has one object; that of rank 0 decides for
/// all.
class collective_batches {
 public:
  /// \param calls in each batch
  collective_batches(std::size_t calls, double effort)
      : calls_(static_cast<double>(calls)),
        wanted_(std::max<std::size_t>(5, static_cast<std::size_t>(40 * effort))) {}

  /// Ends a batch.
  /// \param us       from the begin of the first call to the end of the last one
  /// \param alone_us the computations of such a batch without calls, or 0
  /// \return whether another batch follows
  bool add(double us, double alone_us) {
    const auto now = now_ns();
    if (warms_up_) {
      warms_up_ = ++warm_up_ < 20 && us_between(began_, now) < enough_us / 4;
      if (!warms_up_) began_ = now;
      return true;
    }
    whole_.push_back(us / calls_);
    beyond_.push_back((us - alone_us) / calls_);
    return whole_.size() < wanted_ && (whole_.size() < 5 || us_between(began_, now) < enough_us);
  }

  /// Microseconds of each call with its computation, and of that beyond the computation.
  const std::vector<double>& whole() const noexcept { return whole_; }
  const std::vector<double>& beyond() const noexcept { return beyond_; }

 private:
  static constexpr double enough_us = 3e5;
  const double calls_;
  const std::size_t wanted_;
  std::int64_t began_ = now_ns();
  std::size_t warm_up_ = 0;
  bool warms_up_ = true;
  std::vector<double> whole_, beyond_;
};

/// The line about the measured calls: us_per_call, or beyond_us and us_per_call.
inline json collective_line(const line_head& head, const job& what, const std::string& pattern,
                            const collective_batches& measured) {
  const bool plain = pattern == "plain";
  json line = make_line(head, plain ? us_per_call : beyond_us,
                        plain ? measured.whole() : measured.beyond());
  if (!plain) line[std::string(us_per_call)] = median(measured.whole());
  line["call"] = what.call;
  line["pattern"] = pattern;
  line["compute_us"] = computation_us(head.size, pattern);
  return line;
}

}  // namespace weft::bench
