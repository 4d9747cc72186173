// SPDX-License-Identifier: Apache-2.0
// pingpong: sends messages back and forth, and prints the half round trip.
//
//   weft-run -n 2 pingpong                  between two processes of a job
//   pingpong --listen unix://table          between two terminals: this in the first,
//   pingpong --connect unix://table         this in the second
//   pingpong                                alone, with itself
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;

constexpr tag ping{1}, pong{2};
constexpr std::size_t largest = std::size_t{1} << 20;

/// Sends messages of four sizes and receives them back. An empty message is the end.
task<void> serve(endpoint peer, std::uint32_t rounds) {
  fmt::print("{:>10}  {:>14}\n", "bytes", "one way in us");
  for (const std::size_t size : {std::size_t{8}, std::size_t{1024}, std::size_t{65536}, largest}) {
    std::vector<std::byte> ball(size), back(size);
    const auto start = std::chrono::steady_clock::now();
    for (std::uint32_t round = 0; round < rounds; ++round) {
      ball[round % size] = static_cast<std::byte>(round);
      co_await peer.send(ball, ping);
      co_await peer.recv(back, pong);
    }
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (back != ball) throw std::runtime_error("the ball that came back is not the one that left");
    fmt::print("{:>10}  {:>14.3f}\n", size, took.count() / rounds / 2);
  }
  fmt::print("through {}\n", peer.describe());
  co_await peer.send_synchronous(const_buffer{}, ping);
}

/// Sends every message back to its source.
task<void> answer(endpoint peer) {
  std::vector<std::byte> ball(largest);
  for (;;) {
    const received r = co_await peer.recv(ball, ping);
    if (r.size == 0) co_return;
    co_await peer.send(std::span(ball).first(r.size), pong);
  }
}

struct settings {
  std::string listen_at = {}, connect_to = {};
  std::uint32_t rounds = 1000;
};

task<void> play(context& ctx, const settings& s) {
  if (!s.listen_at.empty()) {
    listener listening = co_await ctx.listen(s.listen_at);
    fmt::print("waiting at {}\n", listening.address());
    std::fflush(stdout);
    co_return co_await answer(co_await listening.accept());
  }
  if (!s.connect_to.empty()) co_return co_await serve(co_await ctx.connect(s.connect_to), s.rounds);

  group world = ctx.world();
  if (world.size() > 2 && world.rank() == 0)
    fmt::print("two play, and this job has {} ranks: the others watch\n", world.size());
  if (world.size() == 1)
    co_await when_all(answer(world[0]), serve(world[0], s.rounds));
  else if (world.rank() == 0)
    co_await serve(world[1], s.rounds);
  else if (world.rank() == 1)
    co_await answer(world[0]);
  co_await world.barrier();  // further ranks wait for the end
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("A ball flies back and forth between two processes, and how long it flies.");
  auto* listen = app.add_option("--listen", s.listen_at, "wait for the other one at this address");
  app.add_option("--connect", s.connect_to, "play with the one who waits there")->excludes(listen);
  app.add_option("--rounds", s.rounds, "times back and forth")->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return run_main(play, s);
}
