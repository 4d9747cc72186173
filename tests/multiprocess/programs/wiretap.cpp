// SPDX-License-Identifier: Apache-2.0
// Reads what crosses the network interfaces of this host, as a third party on the way does: wiretap
// <word> Says "ready", and when its standard input ends, how many bytes it has read, and whether
// the word was among them. 77: this process may not.
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <iostream>
#include <string>
#include <string_view>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string_view word = argv[1];
  const int tap = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
  if (tap < 0) return 77;
  const int room = 64 << 20;
  ::setsockopt(tap, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  std::cout << "ready" << std::endl;

  std::size_t bytes = 0;
  bool heard = false;
  std::array<char, 1 << 16> packet;
  pollfd both[] = {{tap, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  for (;;) {
    ::poll(both, 2, -1);
    ssize_t n = 0;
    while ((n = ::recv(tap, packet.data(), packet.size(), MSG_DONTWAIT)) > 0) {
      bytes += static_cast<std::size_t>(n);
      const std::string_view all(packet.data(), static_cast<std::size_t>(n));
      heard = heard || all.find(word) != all.npos;
    }
    if (both[1].revents == 0) continue;
    std::cout << bytes << (heard ? " heard" : " not heard") << std::endl;
    return 0;
  }
}
