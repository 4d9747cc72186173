// SPDX-License-Identifier: Apache-2.0
// Starts a rank on one of two hosts, which are network namespaces.
//   weft-run -n N on_host FD FIRST PROGRAM [ARGUMENTS]
//     FD: the second host's namespace; FIRST: the first rank that runs there
//
// weft-run listens at an abstract Unix socket, which can be reached only from its own host. A
// relay, which ends with the rank, forwards the packets between the rank and weft-run.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "wireup/base/frame.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace {

using namespace weft::wireup;
using weft::unique_fd;

[[noreturn]] void cannot(const std::string& what, int error) {
  std::cerr << "on_host: " << what << ": " << std::strerror(error) << std::endl;
  ::_exit(126);
}

/// Forwards packets from one socket to the other. \return false when one of them has ended
bool pass_on(int from, int to) {
  std::vector<std::byte> buffer(frame_header::size + max_frame_body);
  packet p;
  const arrival what = receive_packet(from, buffer, p);
  if (what == arrival::nothing) return true;
  if (what != arrival::packet) return false;
  for (;;) {
    const int error = send_packet(to, p.bytes, {}, {});
    if (error == 0) return true;
    if (error != EAGAIN) return false;
    pollfd room{to, POLLOUT, 0};
    ::poll(&room, 1, -1);
  }
}

/// Serves one connection after the other.
[[noreturn]] void relay(int rank_comes_to, const std::string& launcher) {
  for (;;) {
    pollfd comes{rank_comes_to, POLLIN, 0};
    ::poll(&comes, 1, -1);
    const opened rank = accept_one(rank_comes_to);
    if (!rank.fd) continue;
    const opened up = connect_abstract(launcher);
    if (!up.fd) ::_exit(0);
    for (bool both = true; both;) {
      pollfd ends[] = {{rank.fd.get(), POLLIN, 0}, {up.fd.get(), POLLIN, 0}};
      ::poll(ends, 2, -1);
      if (ends[0].revents != 0) both = pass_on(rank.fd.get(), up.fd.get());
      if (both && ends[1].revents != 0) both = pass_on(up.fd.get(), rank.fd.get());
    }
  }
}

void move_to(int host, int rank) {
  std::string job = std::getenv("WEFT_JOB");
  const std::string launcher = job.substr(0, job.find('/'));
  // Each rank of that host has another name.
  job[launcher.size() - 1] = static_cast<char>('0' + rank % 10);
  const unique_fd first_host{::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)};
  if (!first_host || ::setns(host, CLONE_NEWNET) != 0) cannot("the second host", errno);
  opened listening = listen_abstract(job.substr(0, launcher.size()));
  if (!listening.fd) cannot("a socket there", listening.error);
  const pid_t rank_process = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) cannot("fork", errno);
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != rank_process) ::_exit(0);
    if (::setns(first_host.get(), CLONE_NEWNET) != 0) cannot("back to the first host", errno);
    relay(listening.fd.get(), launcher);
  }
  ::setenv("WEFT_JOB", job.c_str(), 1);
}

}  // namespace

int main(int argc, char** argv) {
  const char* rank = std::getenv("WEFT_RANK");
  if (argc < 4 || rank == nullptr) {
    std::cerr << "usage: weft-run -n N on_host FD FIRST PROGRAM [ARGUMENTS]\n";
    return 2;
  }
  const int host = std::stoi(argv[1]);
  if (std::stoi(rank) >= std::stoi(argv[2])) move_to(host, std::stoi(rank));
  ::close(host);
  ::execv(argv[3], argv + 3);
  cannot(argv[3], errno);
}
