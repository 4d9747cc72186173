// SPDX-License-Identifier: Apache-2.0
// Two of these processes send each other messages of all sizes at once and check every received
// byte:  exchange <own address> <other address> <seed> [cut <connections>
// unplug <interface>]
// With `cut`, the process breaks one of its TCP connections, of so many, at some moment in the
// middle; with `unplug`, it takes a network interface down.
// Ends with 0: all messages came once, whole and in order, over the remaining links; 3: the same,
// but no link was lost in the meantime; else it says what is wrong.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "../../support/pattern.hpp"

namespace {

using namespace weft;
using tests::bytes;

constexpr std::size_t messages = 60;
constexpr tag data_tag{1}, done_tag{2};

/// The content of the message of that number from the process with that seed, which both sides
/// know.
bytes message(std::uint64_t seed, std::size_t number) {
  std::mt19937_64 random(seed * 1000 + number);
  const std::size_t sizes[] = {8, 5000, 100'000, 600'000, 2'000'000};
  const std::size_t size = random() % sizes[random() % 5];
  return tests::pattern(size, random());
}

std::atomic<std::size_t> received{0};

task<void> send_all(endpoint other, std::uint64_t seed) {
  for (std::size_t i = 0; i != messages; ++i) co_await other.send(message(seed, i), data_tag);
}

task<void> receive_all(endpoint other, std::uint64_t seed) {
  bytes in(2'000'000);
  for (std::size_t i = 0; i != messages; ++i) {
    const auto r = co_await other.recv(in, data_tag);
    const bytes expected = message(seed, i);
    if (!tests::same(expected, std::span(in).first(r.size)))
      throw std::runtime_error("message " + std::to_string(i) + " is not what was sent");
    received.fetch_add(1);
  }
}

task<void> play(context& ctx, std::string own, std::string there, std::uint64_t mine,
                std::uint64_t theirs) {
  const endpoint other = co_await ctx.meet(own, there, "exchange");
  scope both;
  both.start(send_all(other, mine));
  both.start(receive_all(other, theirs));
  co_await both.join();
  // Neither side leaves before the other has all messages, and nothing is left over.
  co_await other.send(const_buffer{}, done_tag);
  co_await other.recv(mutable_buffer{}, done_tag);
}

/// The IP connections of this process: its links.
std::vector<int> links() {
  std::vector<int> all;
  for (int fd = 0; fd != 256; ++fd) {
    sockaddr_storage at{};
    socklen_t size = sizeof at;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&at), &size) == 0 &&
        (at.ss_family == AF_INET || at.ss_family == AF_INET6))
      all.push_back(fd);
  }
  return all;
}

/// Waits until so many messages have come, and a little longer.
/// \param connections the number of connections that there must be by then
void wait_for_moment(std::mt19937_64& random, std::size_t connections) {
  const std::size_t after = random() % (messages * 3 / 4);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while ((received.load() < after || links().size() < connections) &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
}

/// Breaks one of the links: like a cable, losing the data on its way, or so that this data arrives.
void cut(std::mt19937_64& random, std::size_t connections) {
  wait_for_moment(random, connections);
  const std::vector<int> all = links();
  if (all.empty()) return;
  const int fd = all[random() % all.size()];
  const sockaddr nobody{AF_UNSPEC, {}};
  // Not by the library's function: ThreadSanitizer takes that for the creation of a descriptor.
  if (random() % 2 == 0)
    ::syscall(SYS_connect, fd, &nobody, sizeof nobody);
  else
    ::shutdown(fd, SHUT_RDWR);
}

void unplug(std::mt19937_64& random, const std::string& interface) {
  wait_for_moment(random, 0);
  if (std::system(("ip link set " + interface + " down").c_str()) != 0) std::_Exit(4);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: exchange <own address> <other address> <seed> "
                 "[cut <connections> | unplug <interface>]\n";
    return 2;
  }
  const std::uint64_t seed = std::strtoull(argv[3], nullptr, 10);
  const bool cuts = argc > 5;
  std::mt19937_64 random(seed);
  try {
    context ctx;
    std::jthread scissors;
    if (cuts)
      scissors = std::jthread([&random, how = std::string(argv[4]), what = std::string(argv[5])] {
        how == "cut" ? cut(random, std::stoul(what)) : unplug(random, what);
      });
    run(ctx, play(ctx, argv[1], argv[2], seed * 2 + cuts, seed * 2 + !cuts));
    return ctx.snapshot().links_lost != 0 ? 0 : 3;
  } catch (const std::exception& e) {
    std::cerr << "exchange " << seed << (cuts ? " (cuts)" : "") << ": " << e.what() << '\n';
    return 1;
  }
}
