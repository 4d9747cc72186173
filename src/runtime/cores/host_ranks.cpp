// SPDX-License-Identifier: Apache-2.0
#include "runtime/cores/host_ranks.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "runtime/descriptors/fd.hpp"
#include "runtime/os/own_thread.hpp"

namespace weft::runtime {

namespace {

/// \return empty: not to be read
std::string contents(const std::string& path) {
  std::string text;
  const unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> part;
  for (ssize_t n = 0; file && (n = ::read(file.get(), part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(n));
  return text;
}

std::string line_of(const std::string& path) {
  std::string text = contents(path);
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

/// Calls `use` for each entry of a folder that is a number.
void for_each_number(const std::string& folder, const std::function<void(pid_t)>& use) {
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir(folder.c_str()), &::closedir);
  for (const dirent* one = nullptr; all && (one = ::readdir(all.get())) != nullptr;) {
    const std::string_view name = one->d_name;
    pid_t number = 0;
    const auto [rest, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (failure == std::errc{} && rest == name.data() + name.size()) use(number);
  }
}

std::string_view value_of(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::string_view one = environment.substr(0, environment.find('\0'));
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return one.substr(name.size() + 1);
    environment.remove_prefix(std::min(one.size() + 1, environment.size()));
  }
  return {};
}

std::optional<job_place> place_of(pid_t process) {
  return place_in(contents(fmt::format("/proc/{}/environ", process)));
}

/// \return 0: none that has a number here
pid_t parent_of(pid_t process) {
  const std::string status = contents(fmt::format("/proc/{}/status", process));
  constexpr std::string_view label = "\nPPid:\t";
  const std::size_t at = status.find(label);
  pid_t parent = 0;
  if (at != status.npos)
    std::from_chars(status.data() + at + label.size(), status.data() + status.size(), parent);
  return parent;
}

bool is_own_user(pid_t process) {
  struct stat info {};
  return ::stat(fmt::format("/proc/{}", process).c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

/// Where threads, or processes, are bound together. Those that may run everywhere do not count
/// beside others, nor do those that cannot be read.
class together {
 public:
  explicit together(const cpu_set& allowed) noexcept : allowed_(allowed) {}
  void add(const cpu_set& cpus) noexcept {
    any_ = any_ || cpus.any();
    if (cpus != allowed_) bound_ |= cpus;
  }
  const cpu_set& cpus() const noexcept { return any_ && bound_.none() ? allowed_ : bound_; }

 private:
  cpu_set allowed_, bound_;
  bool any_ = false;
};

}  // namespace

std::optional<job_place> place_in(std::string_view environment) {
  constexpr std::pair<std::string_view, std::string_view> launchers[] = {
      {"WEFT_JOB", "WEFT_RANK"}, {"PMIX_NAMESPACE", "PMIX_RANK"}};
  for (const auto& [job, rank] : launchers) {
    const std::string_view name = value_of(environment, job), number = value_of(environment, rank);
    if (!name.empty() && !number.empty()) return job_place{std::string(name), std::string(number)};
  }
  return std::nullopt;
}

cpu_set allowed_cpus() {
  cpu_set granted;
  start_own_thread("weft-probe", "probe of cores", [&] {
    if (bind_thread(::pthread_self(), cpu_set{}.set()) == 0) granted = cpus_of(0);
  }).join();
  return granted;
}

cpu_set bound_cpus(pid_t process, const cpu_set& allowed) {
  const std::string threads = fmt::format("/proc/{}/task", process);
  const std::string name = line_of(fmt::format("/proc/{}/comm", process));
  together bound(allowed);
  for_each_number(threads, [&](pid_t thread) {
    if (thread != process) {
      const std::string its = line_of(fmt::format("{}/{}/comm", threads, thread));
      if (its.starts_with("weft-") && its != name) return;
    }
    bound.add(cpus_of(thread) & allowed);
  });
  return bound.cpus();
}

cpu_set launcher_cpus(const job_place& own) {
  pid_t ancestor = ::getppid();
  while (ancestor > 0 && place_of(ancestor) == own) ancestor = parent_of(ancestor);
  return ancestor > 0 ? cpus_of(ancestor) : cpu_set{}.set();
}

host_ranks find_ranks(const std::string& job, const cpu_set& allowed) {
  host_ranks result;
  std::map<std::string, together> ranks;
  for_each_number("/proc", [&](pid_t process) {
    if (!is_own_user(process)) return;
    const auto its = place_of(process);
    if (!its || its->job != job) return;
    result.processes.insert(process);
    ranks.try_emplace(its->rank, allowed).first->second.add(bound_cpus(process, allowed));
  });
  for (const auto& [rank, bound] : ranks) result.bound.push_back(bound.cpus());
  return result;
}

std::vector<cpu_set> near_cpus(const cpu_set& cpus) {
  cpu_set siblings, cache, node;
  const auto add = [](cpu_set& to, const std::string& path) {
    if (const auto list = parse_cpus(line_of(path))) to |= *list;
  };
  for (std::size_t cpu = 0; cpu != cpus.size(); ++cpu) {
    if (!cpus[cpu]) continue;
    const std::string at = fmt::format("/sys/devices/system/cpu/cpu{}", cpu);
    add(siblings, at + "/topology/thread_siblings_list");
    add(cache, at + "/cache/index3/shared_cpu_list");
  }
  constexpr std::string_view nodes = "/sys/devices/system/node";
  const cpu_set numbers = parse_cpus(line_of(fmt::format("{}/online", nodes))).value_or(cpu_set{});
  for (std::size_t number = 0; number != numbers.size(); ++number) {
    if (!numbers[number]) continue;
    const auto here = parse_cpus(line_of(fmt::format("{}/node{}/cpulist", nodes, number)));
    if (here && (*here & cpus).any()) node |= *here;
  }
  return {siblings, cache, node};
}

core_use look_at_cores(const cpu_set& here, std::size_t ranks, const std::set<pid_t>& peers) {
  core_use now{here, here, false, ranks, 0, {}, {}};
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (online > 0 && here.count() >= static_cast<std::size_t>(online)) return now;
  now.allowed = allowed_cpus();
  const std::optional<job_place> place = place_of(::getpid());
  if (!place) return now;
  now.launched = true;
  // A launcher that is itself elsewhere (Slurm's on cores of the system) is no limit.
  const cpu_set launcher = launcher_cpus(*place);
  if ((here & ~launcher).none()) now.allowed &= launcher;
  now.own = bound_cpus(::getpid(), now.allowed);
  if ((now.allowed & ~now.own).none()) return now;
  host_ranks found = find_ranks(place->job, now.allowed);
  now.found = found.bound.size();
  now.bound = std::move(found.bound);
  for (const pid_t one : peers) {
    if (found.processes.contains(one)) continue;
    now.bound.push_back(one > 0 ? bound_cpus(one, now.allowed) : cpu_set{});
  }
  now.near = near_cpus(now.own);
  return now;
}

}  // namespace weft::runtime
