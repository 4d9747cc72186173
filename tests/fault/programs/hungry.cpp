// SPDX-License-Identifier: Apache-2.0
// Rank 1 of three cannot allocate more memory, and rank 0 floods it with messages for which there
// is no receive. Rank 1 ends that peer with out_of_memory; rank 0 is told so although no rank
// leaves; rank 2 is served as before.
#include <sys/resource.h>

#include <cstddef>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;
using bytes = std::vector<std::byte>;

constexpr tag hello{1}, flood{2}, well{3}, never{4}, over{5};
constexpr int many = 20'000;

/// Limits the data segment and not the address space: the heaps of threads have reserved address
/// space already. The heap keeps a little that is free: too short for the messages of the flood,
/// which the test means, and enough for a coroutine or a text, which it does not.
/// \return what keeps the free parts from becoming one
[[nodiscard]] std::vector<bytes> take_no_more_memory() {
  constexpr std::size_t spare = 100;
  std::vector<bytes> gaps, walls;
  for (std::size_t i = 0; i != spare; ++i) {
    gaps.emplace_back(2'000);
    walls.emplace_back(100);
  }
  gaps.clear();
  std::ifstream file("/proc/self/status");
  std::string word;
  rlim_t kib = 0;
  while (file >> word)
    if (word == "VmData:") file >> kib;
  const rlim_t limit = kib << 10;
  const rlimit both{limit, limit};
  ::setrlimit(RLIMIT_DATA, &both);
  return walls;
}

task<void> send_one(endpoint to, const bytes& out, std::string& end) {
  const auto r = co_await as_result(to.send(out, flood));
  if (!r) end = r.failure().what();
}

/// All at once, so that some messages find no credit and are announced only.
task<void> send_too_much(endpoint to, endpoint other) {
  const bytes out(30'000, std::byte{1});
  std::string end;
  co_await to.send(const_buffer(out.data(), 8), well);
  co_await to.recv(mutable_buffer{}, hello);
  scope all;
  for (int i = 0; i < many; ++i) all.start(send_one(to, out, end));
  co_await all.join();
  std::cout << "the flood ends: " << end << std::endl;
  co_await other.send(const_buffer{}, over);
}

task<void> be_flooded(endpoint from, endpoint other) {
  bytes small(8);
  co_await other.recv(small, well);
  co_await other.send(small, well);  // connects: a connection needs memory
  co_await from.recv(small, well);
  const std::vector<bytes> walls = take_no_more_memory();
  co_await from.send(const_buffer{}, hello);
  const auto r = co_await as_result(from.recv(small, never));
  std::cout << "flooded: " << (r.code() == errc::out_of_memory ? "out of memory" : "otherwise")
            << ": " << (r ? "" : r.failure().what()) << std::endl;
  co_await other.send(small, well);
  // The flooding rank must not learn of it by the end of this process.
  co_await other.recv(mutable_buffer{}, over);
}

task<void> be_served(endpoint by, endpoint flooding) {
  bytes small(8);
  co_await by.send(small, well);
  co_await by.recv(small, well);
  co_await by.recv(small, well);
  std::cout << "the other one is served" << std::endl;
  co_await flooding.recv(mutable_buffer{}, over);
  co_await by.send(const_buffer{}, over);
}

task<void> play(context& ctx) {
  const group world = ctx.world();
  if (world.rank() == 0) return send_too_much(world[1], world[2]);
  if (world.rank() == 1) return be_flooded(world[0], world[2]);
  return be_served(world[1], world[0]);
}

}  // namespace

int main() {
  try {
    context ctx;
    run(ctx, play(ctx));
  } catch (const std::exception& e) {
    std::cerr << "hungry: " << e.what() << std::endl;
    return 1;
  }
}
