// SPDX-License-Identifier: Apache-2.0
#include "measure/machine.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>

#include "output/json_lines.hpp"
#include "page/plan.hpp"
#include "support/subprocess.hpp"

namespace weft::bench::page {
namespace {

/// arm64 has numbers in place of a name.
std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  std::string name = "unknown", implementer;
  bool virtual_one = false;
  for (std::string line; std::getline(in, line);) {
    const auto value = [&line] { return line.substr(line.find(':') + 2); };
    if (line.starts_with("model name")) name = value();
    if (line.starts_with("CPU implementer")) implementer = value();
    if (line.starts_with("CPU part"))
      name = "arm64, implementer " + implementer + ", part " + value();
    if (line.starts_with("flags")) virtual_one = line.find(" hypervisor") != std::string::npos;
  }
  return virtual_one ? name + ", a virtual machine" : name;
}

std::string cores() {
  cpu_set_t set;
  const long all = ::sysconf(_SC_NPROCESSORS_ONLN);
  const int own = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  return own == all ? fmt::format("{}", all) : fmt::format("{} of {}", own, all);
}

std::string memory() {
  struct sysinfo info {};
  if (::sysinfo(&info) != 0) return "unknown";
  return fmt::format("{:.1f} GiB",
                     static_cast<double>(info.totalram) * info.mem_unit / (1024.0 * 1024 * 1024));
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

/// The first line that a program says of its version; "not installed" if it does not run.
std::string version_of(const std::string& program) {
  if (!find_program(program)) return "not installed";
  const auto ended = run_command({{program, "--version"}, {}}, std::chrono::seconds(10));
  // mpirun.mpich begins with the name of its launcher.
  for (const char* key : {"Version:", "(Open"})
    if (const auto at = ended.out.find(key); at != std::string::npos) {
      const auto line = ended.out.substr(at, ended.out.find('\n', at) - at);
      const auto number = line.find_first_of("0123456789");
      return number == std::string::npos ? "unknown" : line.substr(number);
    }
  return "unknown";
}

/// What two cores need for each other's memory, without a library: a virtual machine's cores may
/// lie on one core of its host, or far apart, and not on the same ones each day.
std::string between_cores() {
  const auto program = own_folder() / "weft-bench";
  if (!find_program(program.string())) return "not measured";
  const auto ended = run_command({{program.string(), "raw", "--limit", "cache_line,pipelined_copy",
                                   "--size", "1M", "--effort", "0.2", "--json"},
                                  {}},
                                 std::chrono::seconds(20));
  double line_us = 0, copy_us = 0;
  for (const json& one : parse_lines(ended.out)) {
    if (one.value("bench", "") != "latency") continue;
    (one.value("limit", "") == "cache_line" ? line_us : copy_us) = one.value("half_rtt_us", 0.0);
  }
  if (!(line_us > 0 && copy_us > 0)) return "not measured";
  return fmt::format("a cache line takes {:.3f} µs, a MiB through shared memory {:.0f} µs", line_us,
                     copy_us);
}

}  // namespace

json describe_machine(const std::string& weft, bool quick) {
  utsname kernel{};
  ::uname(&kernel);
  std::tm now{};
  const std::time_t seconds = std::time(nullptr);
  ::gmtime_r(&seconds, &now);
  return {{"date", fmt::format("{:%Y-%m-%d %H:%M} UTC", now)},
          {"processor", processor()},
          {"cores", cores()},
          {"between cores", between_cores()},
          {"memory", memory()},
          {"kernel", fmt::format("{} {}", kernel.sysname, kernel.release)},
          {"compiler", compiler()},
          {"weft", weft},
          {"Open MPI", version_of("mpirun.openmpi")},
          {"MPICH", version_of("mpirun.mpich")},
          {"run", quick ? "quick: few samples, wide spreads" : "full"}};
}

}  // namespace weft::bench::page
