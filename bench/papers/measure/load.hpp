// SPDX-License-Identifier: Apache-2.0
// What other processes take of this machine while nothing, or a command, of ours runs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace weft::bench::page {

/// Processor time since the start of the machine, in seconds of one core.
struct cpu_times {
  double user = 0;    ///< of programs
  double system = 0;  ///< of the kernel for them, and of interrupts
  double stolen = 0;  ///< what the host gave to others

  double all() const noexcept { return user + system + stolen; }
};

/// Reads the line "cpu" of /proc/stat. \param ticks in a second; nothing if there is no such line
std::optional<cpu_times> parse_cpu_times(std::string_view stat, double ticks);

/// Measures between its construction and `cores()`. One thread uses it.
class load_meter {
 public:
  load_meter();

  /// How many cores others have used on average. Programs that this process has started and waited
  /// for are its own; while they ran, the kernel's time is theirs, too, so only that of programs
  /// and what the host took is counted.
  double cores(bool ran_commands) const;

  /// The program that has used most since then, and how much of a core: "ninja (0.9)". Empty if
  /// none was seen.
  std::string most() const;

 private:
  double begun_;
  double own_;
  cpu_times times_;
  std::map<int, double> programs_;  ///< by process id
};

/// The load of `seconds` without a command of ours.
struct load_found {
  double cores = 0;
  std::string most;
};
load_found measure_load(double seconds);

/// The cores that this process may use.
int own_cores();
/// With more than this in use by others a measurement says little: a tenth of all cores.
double busy_limit();

/// "other processes use 1.3 of 2 cores, most of them ninja (0.9)", if that is more than the limit
/// in each of three seconds; else empty.
std::string busy_text();

/// Waits at most a few seconds for less load than the limit: the command before may still end.
/// \return the load that was measured last
double settle();

}  // namespace weft::bench::page
