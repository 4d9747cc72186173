// SPDX-License-Identifier: Apache-2.0
// The process at the other end of a Unix socket, where users or processes have no number here.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "support/catch.hpp"
#include "support/skip.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup::test {

namespace {

constexpr int cannot = 77;

/// Runs `f` in a process that ends with this one; the result is the process's status.
template <class F>
pid_t start(F f) {
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::_exit(f());
}
int status_of(pid_t pid) {
  int status = -1;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool write_to(const char* file, const std::string& text) {
  const unique_fd fd(::open(file, O_WRONLY | O_CLOEXEC));
  return ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// How a process in a new user namespace judges its own credentials. \param known as `unshare` maps
/// it
int judge_oneself(const std::string& known) {
  if (::unshare(CLONE_NEWUSER) != 0) return cannot;
  if (!known.empty() && !write_to("/proc/self/uid_map", known)) return cannot;
  int both[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, both) != 0) return cannot;
  const credentials who = credentials_of(both[0]);
  const bool told = why_no_user_of_ours(who).find("--map-current-user") != std::string::npos;
  return (who.same_user ? 1 : 0) | (who.anybody ? 2 : 0) | (told ? 4 : 0);
}

}  // namespace

TEST_CASE("unix socket: whoever has no user number here is not taken for this user") {
  const int without = status_of(start([] { return judge_oneself({}); }));
  if (without == cannot) return tests::skip("user namespaces are forbidden here");
  CHECK(without == (2 | 4));
  // The same number, but the namespace knows it.
  const std::string own = std::to_string(::geteuid());
  CHECK(status_of(start([&] { return judge_oneself("65534 " + own + " 1"); })) == 1);
  CHECK(status_of(start([&] { return judge_oneself("0 " + own + " 1"); })) == 1);
}

TEST_CASE("unix socket: the death of a process that has no number here is seen") {
  const std::string name = random_socket_name();
  const opened listener = listen_abstract(name);
  REQUIRE(listener.fd);
  int report[2];
  REQUIRE(::pipe2(report, O_CLOEXEC) == 0);
  const unique_fd heard(report[0]);
  unique_fd tells(report[1]);

  const pid_t watched = start([&] {
    const opened it = connect_abstract(name);
    return it.fd ? ::pause() : 1;
  });
  pollfd came{listener.fd.get(), POLLIN, 0};
  REQUIRE(::poll(&came, 1, -1) == 1);
  const opened socket = accept_one(listener.fd.get());
  REQUIRE(socket.fd);

  const auto say = [&](char c) { return ::write(tells.get(), &c, 1) == 1 ? 0 : 1; };
  const pid_t container = start([&] {
    const int spaces = ::geteuid() == 0 ? CLONE_NEWPID : CLONE_NEWPID | CLONE_NEWUSER;
    if (::unshare(spaces) != 0) return cannot;
    return status_of(start([&] {
      if (credentials_of(socket.fd.get()).pid != 0) return 1;
      const unique_fd process = process_at(socket.fd.get());
      if (!process) return cannot;  // a kernel before 6.5
      pollfd death{process.get(), POLLIN, 0};
      if (::poll(&death, 1, 0) != 0) return 2;
      say('w');
      return ::poll(&death, 1, -1) == 1 ? 0 : 3;
    }));
  });
  tells = {};
  char c = 0;
  const bool watches = ::read(heard.get(), &c, 1) == 1;
  ::kill(watched, SIGKILL);
  status_of(watched);
  const int end = status_of(container);
  if (end == cannot) return tests::skip("no namespaces for processes, or no SO_PEERPIDFD, here");
  CHECK(watches);
  CHECK(end == 0);
}

}  // namespace weft::wireup::test
