// SPDX-License-Identifier: Apache-2.0
// The RDMA channel (weft/rdma_channel.hpp) between two processes, on each rung: 64 MiB cross, are
// checked, and the rate is printed. No context, and no weft-run: the two exchange their cards over
// a socket of their own, as any program could.
//
//   rdma_channel             over shared memory
//   rdma_channel verbs       over the first RDMA device
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/rdma_channel.hpp>

namespace {

using weft::rdma_channel;
using rung = rdma_channel::rung;

constexpr std::size_t mib = std::size_t{1} << 20, message = 4 * mib, messages = 16;

struct step {
  const char* name;
  rung how;
};
constexpr step steps[] = {{"basic", rung::basic},
                          {"piggyback", rung::piggyback},
                          {"pipelined", rung::pipelined},
                          {"zero-copy, read", rung::read},
                          {"zero-copy, written", rung::written}};

/// Both sides send theirs, then receive the other's. Each is one packet: SOCK_SEQPACKET.
std::vector<std::byte> exchange(int peer, std::span<const std::byte> mine) {
  std::vector<std::byte> theirs(256);
  if (::send(peer, mine.data(), mine.size(), MSG_NOSIGNAL) < 0)
    throw std::runtime_error("the other process has ended");
  const ssize_t n = ::recv(peer, theirs.data(), theirs.size(), 0);
  if (n <= 0) throw std::runtime_error("the other process has ended");
  theirs.resize(static_cast<std::size_t>(n));
  return theirs;
}

void send_all(rdma_channel& channel, weft::const_buffer rest) {
  while (!rest.empty()) {
    const std::size_t n = channel.put({&rest, 1});
    rest = rest.subspan(n);
    if (n == 0) channel.progress();
  }
}

void receive_all(rdma_channel& channel, weft::mutable_buffer rest) {
  while (!rest.empty()) {
    const std::size_t n = channel.get({&rest, 1});
    rest = rest.subspan(n);
    if (n == 0) channel.progress();
  }
}

/// \return MB/s
double measure(rdma_channel& channel, int peer, bool sends) {
  std::vector<std::byte> memory(message);
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i != messages; ++i) {
    const auto content = static_cast<std::byte>(i + 1);
    if (sends) {
      std::memset(memory.data(), static_cast<int>(content), message);
      send_all(channel, memory);
      continue;
    }
    receive_all(channel, memory);
    if (memory.front() != content || memory.back() != content)
      throw std::runtime_error("other bytes have come than were sent");
  }
  // Bytes under way may be lost when an end closes: the two agree before.
  exchange(peer, std::span(memory).first(1));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return static_cast<double>(message * messages) / 1e6 / took.count();
}

void run(const std::string& transport, int peer, bool sends) {
  for (const step& s : steps) {
    const auto channel = rdma_channel::open({.transport = transport, .step = s.how});
    channel->meet(exchange(peer, channel->card()));
    const double mb_s = measure(*channel, peer, sends);
    if (sends) std::printf("%-20s %8.0f MB/s\n", s.name, mb_s);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string transport = argc > 1 ? argv[1] : "shm";
  if (argc > 2 || (transport != "shm" && transport != "verbs")) {
    std::fprintf(stderr, "usage: %s [shm|verbs]\n", argv[0]);
    return 2;
  }
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    std::perror("socketpair");
    return 1;
  }
  const pid_t child = ::fork();
  if (child < 0) {
    std::perror("fork");
    return 1;
  }
  const bool sends = child != 0;
  ::close(ends[sends ? 1 : 0]);
  try {
    run(transport, ends[sends ? 0 : 1], sends);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  int status = 0;
  if (sends && (::waitpid(child, &status, 0) != child || status != 0)) return 1;
  return 0;
}
