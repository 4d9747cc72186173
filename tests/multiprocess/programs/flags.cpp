// SPDX-License-Identifier: Apache-2.0
// shared_flags of whole jobs.
//   weft-run -n 4 flags work       a barrier and a queue, much used; also in parts of the job
//   weft-run -n 4 flags killed 1   rank 1 dies while the others wait; they go on without it
//   weft-run -n 4 flags dying 17   a rank dies while all make flags, at a time by that seed
//   weft-run -n 4 flags stopped    rank 1 stops a make; all make new ones
//   weft-run -n 3 flags unshared 8   a member cannot share so many GiB: all learn of it, and go on
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/expect.hpp"

namespace {

using namespace weft;
using tests::expect;
using namespace std::chrono_literals;

/// Every rank adds its number in each round, and sees those of all.
task<void> rounds(group g, std::uint64_t how_many) {
  const shared_flags flags = co_await shared_flags::make(g, 2 * g.size(), g.size() * 64);
  const std::span<std::uint64_t> words = flags.as<std::uint64_t>();
  const peer_id n = g.size(), me = g.rank();
  for (std::uint64_t r = 1; r <= how_many; ++r) {
    words[8 * me] = r * me;
    flags.raise(me, r);
    co_await flags.all_reach(0, n, r);
    std::uint64_t sum = 0;
    for (peer_id k = 0; k != n; ++k) sum += words[8 * k];
    expect(sum == r * (n * (n - 1) / 2), "what the others wrote");
    flags.raise(n + me, r);
    co_await flags.all_reach(n, n, r);
  }
}

/// Tickets: each number is taken once, by any rank.
task<void> tickets(group g, std::uint64_t how_many) {
  const shared_flags flags = co_await shared_flags::make(g, 2);
  std::uint64_t mine = 0;
  for (std::uint64_t ticket = 0; (ticket = flags.add(0)) < how_many; ++mine) flags.add(1);
  co_await flags.reaches(1, how_many);
  const std::uint64_t all = co_await g.all_reduce(mine);
  expect(all == how_many, "each ticket once");
}

task<void> use(group g, std::uint64_t how_much) {
  co_await rounds(g, how_much);
  co_await tickets(g, how_much);
}

task<void> work(context& ctx) {
  const group world = ctx.world();
  co_await use(world, 2'000);
  const group part = co_await world.split(static_cast<int>(world.rank() % 2));
  co_await use(part, 500);
  scope both;  // of two groups at once
  both.start(use(world, 300));
  both.start(use(part, 300));
  co_await both.join();
  co_await world.barrier();
}

/// Rank 0 names the flag that no rank raises.
task<void> killed(context& ctx, peer_id victim) {
  const group world = ctx.world();
  const shared_flags flags = co_await shared_flags::make(world, 2);
  flags.add(0);
  co_await flags.reaches(0, world.size());
  if (world.rank() == victim) ::kill(::getpid(), SIGKILL);
  const auto end = co_await as_result(flags.reaches(1, 1));
  expect(end.code() == errc::peer_lost,
         "the end of a wait: " + std::string(end ? "ok" : end.failure().what()));
  std::cout << "rank " + std::to_string(world.rank()) + ": " + end.failure().what() + "\n"
            << std::flush;
  co_await flags.reaches(0, world.size());  // it has come before
  const auto later = co_await as_result(flags.reaches(0, 1'000));
  expect(later.code() == errc::peer_lost, "a later wait");
  const group rest = co_await world.shrink();
  expect(rest.size() == world.size() - 1, "those that are left");
  co_await use(rest, 200);
  co_await rest.barrier();
}

task<void> dying(context& ctx, unsigned seed) {
  const group world = ctx.world();
  co_await world.barrier();
  if (world.rank() == seed % world.size())
    std::thread([seed] {
      std::this_thread::sleep_for(std::chrono::microseconds(seed * 7919 % 20'000));
      ::kill(::getpid(), SIGKILL);
    }).detach();
  errc end = errc::ok;
  while (end == errc::ok) {
    const auto made = co_await as_result(shared_flags::make(world, 10, 5000));
    end = made.code();
  }
  expect(end == errc::peer_lost, "the end of a make: " + std::string(name_of(end)));
  std::cout << "rank " + std::to_string(world.rank()) + " has ended\n" << std::flush;
}

task<void> stopped(context& ctx) {
  const group world = ctx.world();
  const group given_up = co_await world.split(0);
  if (world.rank() == 1) {
    const auto end = co_await as_result(within(0ms, shared_flags::make(given_up, 1)));
    expect(!end, "a make that was stopped");
    co_await world[0].send_value(tag{1}, 0);
  } else {
    if (world.rank() == 0) co_await world[1].recv_value<int>(tag{1});  // until then it is not whole
    const auto end = co_await as_result(shared_flags::make(given_up, 1));
    expect(end.code() == errc::stopped, "a make that another rank has stopped");
  }
  co_await use(world, 100);
  co_await world.barrier();
}

task<void> unshared(context& ctx, std::size_t gib) {
  const group world = ctx.world();
  const auto end = co_await as_result(shared_flags::make(world, 1, gib << 30));
  expect(end.code() == errc::unsupported,
         "memory that cannot be shared: " + std::string(end ? "ok" : end.failure().what()));
  std::cout << "rank " + std::to_string(world.rank()) + ": " + end.failure().what() + "\n"
            << std::flush;
  int one = 1;
  for (int i = 0; i != 20; ++i) one = co_await world.all_reduce(1);
  expect(one == static_cast<int>(world.size()), "the group goes on");
}

task<void> play(context& ctx, int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "work";
  if (what == "killed") return killed(ctx, static_cast<peer_id>(std::stoul(argv[2])));
  if (what == "dying") return dying(ctx, static_cast<unsigned>(std::stoul(argv[2])));
  if (what == "stopped") return stopped(ctx);
  if (what == "unshared") return unshared(ctx, std::stoul(argv[2]));
  return work(ctx);
}

}  // namespace

int main(int argc, char** argv) { return weft::run_main(play, argc, argv); }
