// SPDX-License-Identifier: Apache-2.0
#include "measure/progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>

namespace weft::bench::page {

std::string duration_text(double seconds) {
  const long all = std::lround(std::max(seconds, 0.0));
  if (all < 100) return fmt::format("{} s", all);
  const long minutes = (all + 30) / 60;
  if (minutes < 60) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

progress_line::progress_line(std::size_t count, double seconds)
    : count_(count), left_(seconds), terminal_(::isatty(STDERR_FILENO) == 1) {}

progress_line::~progress_line() { shows_ = {}; }

void progress_line::begin(const std::string& name, double seconds) {
  ++number_;
  name_ = name;
  seconds_ = seconds;
  left_ = std::max(left_ - seconds, 0.0);
  begun_ = clock::now();
  if (terminal_) shows_ = std::jthread([this](const std::stop_token& stopped) { show(stopped); });
}

void progress_line::end(const std::string& problem) {
  std::string shown = problem.substr(0, 160);
  std::replace(shown.begin(), shown.end(), '\n', ' ');
  shows_ = {};  // joins: from here on this thread alone prints
  const double elapsed = std::chrono::duration<double>(clock::now() - begun_).count();
  if (problem.empty()) {
    estimated_ += seconds_;
    taken_ += elapsed;
  }
  fmt::print(stderr, "{}[{}/{}] {}: {:.1f} s{}{}\n", terminal_ ? "\r\033[K" : "", number_, count_,
             name_, elapsed, shown.empty() ? "" : "; ", shown);
}

std::string progress_line::present(double elapsed) const {
  // This machine may take longer than the estimates say. One command says little about that.
  const double factor = (taken_ + 10) / (estimated_ + 10);
  const double rest = factor * left_ + std::max(factor * seconds_ - elapsed, 0.0);
  return fmt::format("[{}/{}] {}, {:.0f} s; about {} left", number_, count_, name_, elapsed,
                     duration_text(rest));
}

void progress_line::show(const std::stop_token& stopped) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  while (!stopped.stop_requested()) {
    const double elapsed = std::chrono::duration<double>(clock::now() - begun_).count();
    fmt::print(stderr, "\r\033[K{}", present(elapsed));
    std::fflush(stderr);
    never.wait_for(lock, stopped, std::chrono::seconds(1), [] { return false; });
  }
}

}  // namespace weft::bench::page
