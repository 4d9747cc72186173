// SPDX-License-Identifier: Apache-2.0
#include "watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

namespace weft::mpirun {

namespace {

volatile sig_atomic_t child_to_tell = 0;  // the only data that the signal handler uses

void pass_on(int signal, siginfo_t* from, void*) {
  // Signals of a terminal go to the whole group of processes, mpirun included.
  if (from->si_code <= 0 && child_to_tell > 0) ::kill(child_to_tell, signal);
}

constexpr std::array<int, 6> passed_on{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

std::system_error failure(const char* what) { return {errno, std::system_category(), what}; }

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno != EINTR) return;  // no process reads the output: mpirun continues
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

void finder::look_at(std::string_view piece) {
  if (found_) return;
  end_ += piece;
  found_ = end_.find(text_) != end_.npos;
  if (end_.size() >= text_.size()) end_.erase(0, end_.size() - (text_.size() - 1));
}

int become(const std::vector<std::string>& command, const runtime::inherited_state& before) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  before.give_back();
  ::execv(words[0], words.data());
  const int why = errno;
  fmt::print(stderr, "weft-mpirun: {} cannot be started: {}\n", command[0], std::strerror(why));
  return why == ENOENT ? 127 : 126;
}

outcome watch(const std::vector<std::string>& command, const runtime::inherited_state& before) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw failure("a pipe");

  sigset_t ours;
  sigset_t others;
  sigemptyset(&ours);
  for (const int signal : passed_on) sigaddset(&ours, signal);
  ::sigprocmask(SIG_BLOCK, &ours, &others);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw failure("a process");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(1);
    ::dup2(ends[1], STDERR_FILENO);
    ::_exit(become(command, before));
  }
  child_to_tell = child;
  struct sigaction act = {};
  act.sa_sigaction = pass_on;
  act.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : passed_on) ::sigaction(signal, &act, nullptr);
  ::sigprocmask(SIG_SETMASK, &others, nullptr);
  ::close(ends[1]);

  outcome result;
  finder announced(announcement);
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t n = ::read(ends[0], piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    announced.look_at({piece.data(), static_cast<std::size_t>(n)});
    write_all(STDERR_FILENO, {piece.data(), static_cast<std::size_t>(n)});
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  child_to_tell = 0;
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.announced = announced.found();
  return result;
}

}  // namespace weft::mpirun
