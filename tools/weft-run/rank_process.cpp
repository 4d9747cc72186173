// SPDX-License-Identifier: Apache-2.0
#include "rank_process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "runtime/os/cpu_set.hpp"

namespace weft::run {

namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> merged_environment(const std::vector<std::string>& on_top) {
  std::vector<std::string> result = on_top;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    const bool replaced =
        std::ranges::any_of(on_top, [&](const std::string& own) { return own.starts_with(name); });
    if (!replaced) result.emplace_back(text);
  }
  return result;
}

/// After fork: only calls that are safe if other threads held locks.
[[noreturn]] void become(const launch& what, const runtime::inherited_state& before,
                         char* const* arguments, char** environment, pid_t launcher, int report) {
  const auto give_up = [report] {
    const int fault = errno;
    const auto told = ::write(report, &fault, sizeof fault);
    ::_exit(told > 0 ? 127 : 126);
  };
  if (what.own_group) ::setpgid(0, 0);
  // Set first, checked afterwards: the launcher may have died in between.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(127);
  if (what.core >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(what.core), &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0) give_up();
  }
  const std::array<int, 3> wanted{what.input, what.output, what.errors};
  for (int i = 0; i < 3; ++i) {
    const int fd = wanted[static_cast<std::size_t>(i)];
    if (fd >= 0 && ::dup2(fd, i) < 0) give_up();
  }
  before.give_back();
  environ = environment;
  ::execvp(arguments[0], arguments);
  give_up();
  ::_exit(127);
}

}  // namespace

pid_t start(const launch& what, const runtime::inherited_state& before, int& failure) {
  std::vector<std::string> command = what.command;
  std::vector<std::string> environment = merged_environment(what.environment);
  const std::vector<char*> arguments = pointers(command);
  std::vector<char*> variables = pointers(environment);

  // A successful exec closes it; otherwise it carries the errno.
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    failure = errno;
    return -1;
  }
  const unique_fd listen(ends[0]);
  unique_fd report(ends[1]);
  const pid_t launcher = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(what, before, arguments.data(), variables.data(), launcher, report.get());
  if (pid < 0) {
    failure = errno;
    return -1;
  }
  if (what.own_group) ::setpgid(pid, pid);  // parent and child both do this; the first call counts
  report = unique_fd();
  int fault = 0;
  ssize_t n = 0;
  do {
    n = ::read(listen.get(), &fault, sizeof fault);
  } while (n < 0 && errno == EINTR);
  if (n == 0) return pid;
  ::waitpid(pid, nullptr, 0);
  failure = n == static_cast<ssize_t>(sizeof fault) ? fault : EIO;
  return -1;
}

std::vector<int> usable_cores() {
  std::vector<int> cores;
  const runtime::cpu_set own = runtime::cpus_of(0);
  for (std::size_t i = 0; i != own.size(); ++i)
    if (own[i]) cores.push_back(static_cast<int>(i));
  return cores;
}

}  // namespace weft::run
