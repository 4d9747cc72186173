// SPDX-License-Identifier: Apache-2.0
// A job of three: ranks 0 and 1 talk to each other and to rank 2. Rank 2 begins correctly, then
// writes garbage over all memory that it shares with them, and in the end into its sockets.
//   weft-run -n 3 hostile SEED
//
// Ranks 0 and 1 must receive every message from each other, and all their operations with rank 2
// must end. Each of them then prints how they ended.
#include <dirent.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;
using bytes = std::vector<std::byte>;

constexpr std::array<std::size_t, 3> sizes{8, 3000, 300'000};
constexpr peer_id villain = 2;
constexpr tag hello{1}, good{2};

// ---------------------------------------------------------------- rank 2

struct shared_memory {
  std::byte* begin;
  std::size_t size;
};

/// All of weft's memory that this process can write and other processes map.
std::vector<shared_memory> all_shared() {
  std::vector<shared_memory> all;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:weft-") == std::string::npos) continue;
    std::istringstream in(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string rights;
    in >> std::hex >> begin >> dash >> end >> rights;
    if (rights == "rw-s")
      all.push_back({reinterpret_cast<std::byte*>(begin), end - begin});  // NOLINT: from the kernel
  }
  return all;
}

std::vector<int> sockets() {
  std::vector<int> all;
  DIR* d = ::opendir("/proc/self/fd");
  while (const dirent* e = ::readdir(d)) {
    const int fd = std::atoi(e->d_name);
    int type = 0;
    socklen_t size = sizeof type;
    if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET)
      all.push_back(fd);
  }
  ::closedir(d);
  return all;
}

/// Random words, some of them small, so that they can pass for sizes, counters and sequences.
std::uint64_t garbage(std::mt19937_64& random) {
  const std::uint64_t r = random();
  return r >> (r % 8) * 8;
}

[[noreturn]] void attack(unsigned seed) {
  std::mt19937_64 random(seed);
  const std::vector<shared_memory> targets = all_shared();
  if (targets.empty()) {
    std::cerr << "hostile: found nothing to write to" << std::endl;
    std::_Exit(1);
  }
  // The others may have ended the connection and left: then this process's weft unmaps the shared
  // memory.
  std::signal(SIGSEGV, [](int) { ::_exit(0); });
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(150);
  while (std::chrono::steady_clock::now() < end) {
    const shared_memory& at = targets[random() % targets.size()];
    // Sometimes a range, sometimes one word; mostly at the front, where the headers are.
    const std::size_t reach = random() % 4 ? std::min<std::size_t>(at.size, 20'000) : at.size;
    std::size_t place = random() % (reach / 8) * 8;
    const std::size_t words = random() % 4 ? 1 : random() % 64;
    for (std::size_t i = 0; i < words && place + 8 <= at.size; ++i, place += 8) {
      const std::uint64_t word = garbage(random);
      std::memcpy(at.begin + place, &word, sizeof word);
    }
    // A slow beginning makes some of it look like messages.
    if (seed % 3 == 0) ::usleep(50);
  }
  if (seed % 2 == 0) {
    for (const int fd : sockets()) {
      std::array<std::uint64_t, 64> junk;
      for (std::uint64_t& word : junk) word = garbage(random);
      ::send(fd, junk.data(), 1 + random() % sizeof junk, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
  }
  std::_Exit(0);
}

// ---------------------------------------------------------------- ranks 0 and 1

struct outcome {
  std::set<std::string> ends;  // how operations with rank 2 ended
  bool over = false;           // all of them have ended
};

bool is_end(errc e) { return e != errc::ok && e != errc::truncated; }

task<void> send_until_the_end(endpoint to, std::size_t size, outcome& o) {
  const bytes out(size, std::byte{5});
  for (;;) {
    const auto r = co_await as_result(to.send(out, good));
    if (!is_end(r.code())) continue;
    o.ends.insert(r.failure().code().message());
    co_return;
  }
}

task<void> receive_until_the_end(endpoint from, std::size_t size, outcome& o) {
  bytes in(size);
  for (;;) {
    const auto r = co_await as_result(from.recv(in, any_tag));
    if (!is_end(r.code())) continue;
    o.ends.insert(r.failure().code().message());
    co_return;
  }
}

task<void> suffer(endpoint from, outcome& o) {
  scope all;
  for (const std::size_t size : sizes) {
    all.start(send_until_the_end(from, size, o));
    all.start(receive_until_the_end(from, size, o));
  }
  co_await all.join();
  o.over = true;
}

/// Messages of each size there and back, until both sides have lost rank 2, and some more.
task<std::size_t> talk(endpoint other, peer_id self, const outcome& o) {
  std::size_t exchanged = 0;
  for (int rounds_more = 20; rounds_more != 0;) {
    for (const std::size_t size : sizes) {
      bytes out(size, static_cast<std::byte>(exchanged + self)), in(size);
      const bool over = o.over;  // both sides must see the same value, which was sent
      out[0] = static_cast<std::byte>(over);
      scope both;
      both.start(other.send(out, good));
      both.start(other.recv(in, good));
      co_await both.join();
      const auto expected = static_cast<std::byte>(exchanged + 1 - self);
      if (std::any_of(in.begin() + 1, in.end(), [&](std::byte b) { return b != expected; }))
        throw std::logic_error("a message of the bystander is disturbed");
      ++exchanged;
      if (size == sizes.back() && over && in[0] == std::byte{1}) --rounds_more;
    }
  }
  co_return exchanged;
}

task<void> play(context& ctx, unsigned seed) {
  const group world = ctx.world();
  const peer_id self = world.rank();
  if (self == villain) {
    bytes in(8);
    for (const peer_id other : {0u, 1u}) {  // all links in both directions
      co_await world[other].send(in, hello);
      co_await world[other].recv(in, hello);
    }
    attack(seed);
  }
  bytes in(8);
  co_await world[villain].recv(in, hello);
  co_await world[villain].send(in, hello);
  outcome o;
  scope trouble;
  trouble.start(suffer(world[villain], o));
  const std::size_t exchanged = co_await talk(world[1 - self], self, o);
  co_await trouble.join();
  std::string ends;
  for (const std::string& e : o.ends) ends += e + "; ";
  std::cout << "well after " + std::to_string(exchanged) + " messages, and: " + ends + "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: hostile <seed>\n";
    return 2;
  }
  try {
    context ctx;
    run(ctx, play(ctx, static_cast<unsigned>(std::stoul(argv[1]))));
  } catch (const std::exception& e) {
    std::cerr << "hostile: " << e.what() << std::endl;
    return 1;
  }
}
