// SPDX-License-Identifier: Apache-2.0
// Another user of this host, who attacks sockets that stand in /proc/net/unix:
//   outsider attack NAME...   sends lingering sockets and descriptors to these, without end
//   outsider squat NAME       takes a name, and sends the same to each client
// Writes a line for each round. Started by root, who alone can become another user.
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "support/lingering.hpp"

namespace {

using weft::unique_fd;
using weft::tests::lingering_socket;

constexpr int most_children = 60;

void become_another_user() {
  constexpr uid_t outsider = 65534;
  lingering_socket::need(::setgroups(0, nullptr) == 0 &&
                         ::setresgid(outsider, outsider, outsider) == 0 &&
                         ::setresuid(outsider, outsider, outsider) == 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

bool is_bell(const std::string& name) { return name.starts_with("weft-bell-"); }

struct address {
  explicit address(const std::string& name) {
    at.sun_family = AF_UNIX;
    const std::size_t length = std::min(name.size(), sizeof at.sun_path - 1);
    std::memcpy(at.sun_path + 1, name.data(), length);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&at); }
  sockaddr_un at{};
  socklen_t size = 0;
};

unique_fd connect_to(const std::string& name) {
  const address there(name);
  unique_fd fd(::socket(AF_UNIX, (is_bell(name) ? SOCK_DGRAM : SOCK_SEQPACKET) | SOCK_NONBLOCK, 0));
  return ::connect(fd.get(), there.get(), there.size) == 0 ? std::move(fd) : unique_fd();
}

bool send_one(int socket, int fd) {
  const std::byte one{};
  return weft::tests::send_with(socket, {&one, 1}, {&fd, 1}) >= 0;
}

/// As many descriptors as packets carry.
void flood(int socket) {
  const int nothing = STDIN_FILENO;
  const std::vector<int> many(250, nothing);
  weft::tests::send_with(socket, {}, {&nothing, 1});  // in a packet of no bytes
  for (int i = 0; i != 3; ++i) {
    const std::byte one{};
    weft::tests::send_with(socket, {&one, 1}, many);
  }
}

/// Goes on in a child, which keeps the reader, and which the last close blocks if the receiver was
/// quick. \param send whether it was sent, or will not be
template <class Send>
void send_lingering(int number, const Send& send) {
  if (::fork() != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  lingering_socket slow;
  unique_fd fd = std::move(slow.full), end;
  if (number % 2 == 0) {
    auto both = weft::tests::wrapped(std::move(fd));
    fd = std::move(both[0]);
    end = std::move(both[1]);
  }
  for (int tries = 0; tries != 1000 && !send(fd.get()); ++tries) continue;
  fd = {};
  for (;;) ::pause();
}

[[noreturn]] void attack(const std::vector<std::string>& names) {
  int children = 0;
  for (;;) {
    for (const std::string& name : names) {
      if (children != most_children)
        send_lingering(++children, [&](int fd) {
          const unique_fd to = connect_to(name);
          // Else the receiver has hung up already: another try.
          return to && (send_one(to.get(), fd) || errno == EPERM);
        });
      if (const unique_fd to = connect_to(name)) flood(to.get());
      for (int i = 0; i != 5; ++i) connect_to(name);
    }
    std::cout << "round" << std::endl;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

[[noreturn]] void squat(const std::string& name) {
  const address here(name);
  const unique_fd listening(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
  lingering_socket::need(::bind(listening.get(), here.get(), here.size) == 0 &&
                         ::listen(listening.get(), 100) == 0);
  std::cout << "round" << std::endl;
  for (int children = 0;;) {
    // Prepared before the client comes, who does not stay for long.
    send_lingering(++children, [&](int fd) {
      const unique_fd client(::accept(listening.get(), nullptr, nullptr));
      flood(client.get());
      send_one(client.get(), fd);
      return true;
    });
    if (children != most_children) continue;
    for (;;) ::pause();
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) {
    std::cerr << "usage: outsider attack|squat NAME...\n";
    return 2;
  }
  become_another_user();
  if (words[0] == "attack") attack({words.begin() + 1, words.end()});
  squat(words[1]);
} catch (const std::exception& e) {
  std::cerr << "outsider: " << e.what() << '\n';
  return 1;
}
