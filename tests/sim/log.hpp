// SPDX-License-Identifier: Apache-2.0
// The history of a run: every event in order, the oracle's findings, and a number that identifies
// the history.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "support/dice.hpp"
#include "transports/fake/world.hpp"

namespace sim {

namespace fake = weft::transports::fake;
using std::chrono::nanoseconds;
using weft::tests::dice;

/// Owned by the run. Two runs with the same fingerprint had the same events at the same times.
class log {
 public:
  explicit log(std::FILE* trace) noexcept : trace_(trace) {}

  void keep_time(const fake::world& w) noexcept { world_ = &w; }

  /// An event. The numbers go into the fingerprint, the text (of fmt) into the trace.
  template <class... Numbers>
  void event(const char* text, Numbers... numbers) {
    ++events_;
    mix(static_cast<std::uint64_t>(world_->elapsed().count()));
    (mix(static_cast<std::uint64_t>(numbers)), ...);
    if (trace_) print(fmt::format(fmt::runtime(text), numbers...));
  }

  /// What helps to read the trace, and is no event.
  template <class... Args>
  void note(fmt::format_string<Args...> text, Args&&... args) {
    if (trace_) print(fmt::format(text, std::forward<Args>(args)...));
  }

  /// A violation that the oracle found. The first ones are kept.
  template <class... Args>
  void violation(fmt::format_string<Args...> text, Args&&... args) {
    constexpr std::size_t most = 20;
    if (violations_.size() == most) return;
    violations_.push_back(fmt::format(text, std::forward<Args>(args)...));
    if (trace_) print("VIOLATION: " + violations_.back());
  }

  bool clean() const noexcept { return violations_.empty(); }
  std::vector<std::string> take_violations() noexcept { return std::move(violations_); }
  std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  std::uint64_t events() const noexcept { return events_; }

 private:
  void mix(std::uint64_t n) noexcept {
    fingerprint_ = (fingerprint_ ^ n) * 0x9e3779b97f4a7c15u;
    fingerprint_ ^= fingerprint_ >> 29;
  }
  void print(const std::string& text) const {
    fmt::print(trace_, "{:12.3f} us  {}\n", static_cast<double>(world_->elapsed().count()) / 1000.0,
               text);
  }

  std::FILE* const trace_;
  const fake::world* world_ = nullptr;
  std::vector<std::string> violations_;
  std::uint64_t fingerprint_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace sim
