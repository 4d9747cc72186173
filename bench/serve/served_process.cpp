// SPDX-License-Identifier: Apache-2.0
#include "serve/served_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "serve/served_side.hpp"

namespace weft::bench {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(int line) {
  const std::string own = fmt::format("{}={}", served_variable, line);
  std::vector<std::string> all{own};
  for (char** one = environ; *one != nullptr; ++one)
    if (!std::string_view(*one).starts_with(fmt::format("{}=", served_variable)))
      all.emplace_back(*one);
  return all;
}

int wait_for(pid_t pid) noexcept {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

served_process::served_process(const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  line_ = unique_fd{ends[0]};
  const unique_fd theirs{ends[1]};
  std::vector<std::string> program{"weft-bench"};
  program.insert(program.end(), words.begin(), words.end());
  std::vector<std::string> environment = environment_with(theirs.get());
  const std::vector<char*> argv = pointers_to(program), envp = pointers_to(environment);
  const pid_t server = ::getpid();

  pid_ = ::fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ != 0) return;
  // Only calls that are safe in a child of a process with several threads.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != server) ::_exit(127);
  ::fcntl(theirs.get(), F_SETFD, 0);
  ::execve("/proc/self/exe", argv.data(), envp.data());
  ::_exit(127);
}

served_process::~served_process() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  wait_for(pid_);
}

const std::string& served_process::end() {
  if (pid_ <= 0) return how_;
  const int status = wait_for(std::exchange(pid_, -1));
  if (WIFSIGNALED(status))
    how_ =
        fmt::format("it died by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0)
    how_ = fmt::format("it ended with exit code {}; the server's output tells more",
                       WEXITSTATUS(status));
  return how_;
}

}  // namespace weft::bench
