// SPDX-License-Identifier: Apache-2.0
// A program under a parent that ignores signals and has closed the standard descriptors.
#include "runtime/descriptors/inherited_state.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.hpp"

namespace {

using weft::runtime::inherited_state;

bool is_ignored(int signal) {
  struct sigaction now {};
  ::sigaction(signal, nullptr, &now);
  return now.sa_handler == SIG_IGN;
}

/// How a child ended that ends with 3, or -1: unknown.
int end_of_a_child() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(3);
  int status = 0;
  return ::waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : -1;
}

/// The exit status of `f` in a child.
template <class F>
int in_a_process(F f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("inherited state: the end of a child is known, and children get back what was given") {
  CHECK(in_a_process([] {
          for (const int each : {SIGCHLD, SIGPIPE, SIGXFSZ}) ::signal(each, SIG_IGN);
          sigset_t given, now;
          sigemptyset(&given);
          sigaddset(&given, SIGUSR1);
          ::sigprocmask(SIG_SETMASK, &given, nullptr);
          rlimit files{};
          ::getrlimit(RLIMIT_NOFILE, &files);
          const rlim_t limit = --files.rlim_cur;
          ::setrlimit(RLIMIT_NOFILE, &files);

          const inherited_state inherited;
          if (end_of_a_child() != 3) return 1;
          for (const int each : {SIGPIPE, SIGXFSZ}) ::signal(each, SIG_DFL);
          ::sigprocmask(SIG_BLOCK, &given, nullptr);
          ++files.rlim_cur;
          ::setrlimit(RLIMIT_NOFILE, &files);

          inherited.give_back();
          for (const int each : {SIGCHLD, SIGPIPE, SIGXFSZ})
            if (!is_ignored(each)) return 2;
          ::sigprocmask(SIG_BLOCK, nullptr, &now);
          if (sigismember(&now, SIGUSR1) != 1 || sigismember(&now, SIGUSR2) != 0) return 3;
          ::getrlimit(RLIMIT_NOFILE, &files);
          return files.rlim_cur == limit ? 0 : 4;
        }) == 0);
}

TEST_CASE("inherited state: no file gets the number of a standard descriptor") {
  CHECK(in_a_process([] {
          for (const int each : {0, 1, 2}) ::close(each);
          const inherited_state inherited;
          return ::open("/dev/null", O_RDONLY) > 2 ? 0 : 1;
        }) == 0);
}
