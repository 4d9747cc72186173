// SPDX-License-Identifier: Apache-2.0
// Shows on stderr which command runs, and how long the rest will take.
#pragma once

#include <chrono>
#include <string>
#include <thread>

namespace weft::bench::page {

/// On a terminal one line that is renewed each second, by a thread of its own while a command runs;
/// otherwise a line for each command that has ended. One thread calls it.
class progress_line {
 public:
  /// \param count of commands
  /// \param seconds the estimate for all of them
  progress_line(std::size_t count, double seconds);
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line();

  /// A command begins. \param seconds its estimate
  void begin(const std::string& name, double seconds);
  /// It has ended. \param problem empty, or why it gave nothing
  void end(const std::string& problem);

 private:
  using clock = std::chrono::steady_clock;

  std::string present(double elapsed) const;
  void show(const std::stop_token& stopped);

  std::size_t count_;
  std::size_t number_ = 0;
  double left_;           ///< estimates of commands that have not begun
  double estimated_ = 0;  ///< estimates of those that have ended
  double taken_ = 0;      ///< and the time that they took
  std::string name_;
  double seconds_ = 0;
  clock::time_point begun_;
  bool terminal_;
  std::jthread shows_;
};

/// "40 s", "3 min", "1 h 20 min".
std::string duration_text(double seconds);

}  // namespace weft::bench::page
