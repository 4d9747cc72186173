// SPDX-License-Identifier: Apache-2.0
#include "page/machine.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

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
          {"memory", memory()},
          {"kernel", fmt::format("{} {}", kernel.sysname, kernel.release)},
          {"compiler", compiler()},
          {"weft", weft},
          {"Open MPI", version_of("mpirun.openmpi")},
          {"MPICH", version_of("mpirun.mpich")},
          {"run", quick ? "quick: few samples, wide spreads" : "full"}};
}

}  // namespace weft::bench::page
