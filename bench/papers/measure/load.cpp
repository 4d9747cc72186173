// SPDX-License-Identifier: Apache-2.0
#include "measure/load.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "page/record.hpp"

namespace weft::bench::page {
namespace {

double ticks_in_a_second() { return static_cast<double>(::sysconf(_SC_CLK_TCK)); }

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

cpu_times present_times() {
  const auto text = read_file("/proc/stat");
  return text ? parse_cpu_times(*text, ticks_in_a_second()).value_or(cpu_times{}) : cpu_times{};
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// The user time of this process and of the programs that it has waited for.
double own_user_time() {
  double all = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    if (::getrusage(who, &used) == 0) all += seconds_of(used.ru_utime);
  }
  return all;
}

/// "name", and the processor time, of /proc/ID/stat: "1 (name) S ..."; fields 14 and 15 are times.
std::pair<std::string, double> parse_process(const std::string& stat) {
  const auto open = stat.find('('), close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return {};
  std::istringstream rest(stat.substr(close + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) rest >> skipped;
  double user = 0, system = 0;
  rest >> user >> system;
  return {stat.substr(open + 1, close - open - 1), (user + system) / ticks_in_a_second()};
}

template <typename Each>
void for_all_processes(Each each) {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename().string();
    int id = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (failed != std::errc{} || end != name.data() + name.size() || id == ::getpid()) continue;
    if (const auto stat = read_file(entry.path() / "stat")) {
      const auto [program, seconds] = parse_process(*stat);
      each(id, program, seconds);
    }
  }
}

}  // namespace

std::optional<cpu_times> parse_cpu_times(std::string_view stat, double ticks) {
  std::istringstream in{std::string(stat)};
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, stolen = 0;
    fields >> name >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> stolen;
    if (name == "cpu")
      return cpu_times{.user = (user + nice) / ticks,
                       .system = (system + irq + softirq) / ticks,
                       .stolen = stolen / ticks};
  }
  return std::nullopt;
}

load_meter::load_meter() : begun_(now()), own_(own_user_time()), times_(present_times()) {
  for_all_processes(
      [this](int id, const std::string&, double seconds) { programs_[id] = seconds; });
}

double load_meter::cores(bool ran_commands) const {
  const double elapsed = now() - begun_;
  const cpu_times times = present_times();
  const double stolen = times.stolen - times_.stolen;
  const double user = times.user - times_.user - (own_user_time() - own_);
  const double used = ran_commands ? user + stolen : times.all() - times_.all();
  return elapsed > 0 ? std::max(used / elapsed, 0.0) : 0;
}

std::string load_meter::most() const {
  std::string name;
  double most = 0;
  for_all_processes([&](int id, const std::string& program, double seconds) {
    const auto before = programs_.find(id);
    const double used = seconds - (before == programs_.end() ? 0 : before->second);
    if (used <= most) return;
    most = used;
    name = program;
  });
  const double elapsed = now() - begun_;
  return name.empty() || elapsed <= 0 ? std::string{}
                                      : fmt::format("{} ({:.1f})", name, most / elapsed);
}

load_found measure_load(double seconds) {
  const load_meter meter;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return {.cores = meter.cores(false), .most = meter.most()};
}

int own_cores() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

double busy_limit() { return 0.1 * own_cores(); }

std::string busy_text() {
  load_found found;
  for (int i = 0; i != 3; ++i) {
    found = measure_load(1);
    if (found.cores <= busy_limit()) return {};
  }
  return fmt::format("other processes use {:.1f} of {} cores{}", found.cores, own_cores(),
                     found.most.empty() ? "" : ", most of it " + found.most);
}

double settle() {
  double cores = 0;
  for (int i = 0; i != 10; ++i) {
    cores = measure_load(0.25).cores;
    if (cores <= busy_limit()) break;
  }
  return cores;
}

}  // namespace weft::bench::page
