// SPDX-License-Identifier: Apache-2.0
// share: processes count the primes below a number together. No process distributes the work: each
// takes the next piece by adding to a word in rank 0's memory, and puts its result there. Rank 0
// computes like the others; its progress thread serves them meanwhile.
//
//   weft-run -n 4 share 20000000
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <weft/weft.hpp>

namespace {

using namespace weft;

constexpr std::uint64_t piece = 20'000;  // numbers

bool is_prime(std::uint64_t n) {
  if (n < 4) return n >= 2;
  if (n % 2 == 0) return false;
  for (std::uint64_t d = 3; d * d <= n; d += 2)
    if (n % d == 0) return false;
  return true;
}

/// Takes pieces until there are none. \param board the next piece's number, then the results
task<std::uint64_t> work(endpoint owner, remote_region_of<std::uint64_t> board,
                         std::uint64_t below) {
  std::uint64_t done = 0;
  for (;; ++done) {
    const std::uint64_t mine = co_await owner.fetch_add(board, 1);
    const std::uint64_t first = mine * piece;
    if (first >= below) co_return done;
    std::uint64_t found = 0;
    for (std::uint64_t n = first; n != std::min(first + piece, below); ++n) found += is_prime(n);
    co_await owner.put(found, board[mine + 1]);
  }
}

task<void> share(context& ctx, std::uint64_t below) {
  group world = ctx.world();
  const endpoint owner = world[0];
  const std::uint64_t words = 1 + (below + piece - 1) / piece;
  const region_of<std::uint64_t> board(ctx, world.rank() == 0 ? words : 0);
  remote_region_of<std::uint64_t> there = board.remote();
  co_await world.broadcast(there);

  const std::uint64_t pieces = co_await work(owner, there, below);
  fmt::print("{} pieces\n", pieces);
  co_await world.barrier();
  if (world.rank() == 0)
    fmt::print("{} primes below {}\n",
               std::reduce(board.elements().begin() + 1, board.elements().end()), below);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Counts primes, with work that processes take from one word in memory.");
  std::uint64_t below = 5'000'000;
  app.add_option("below", below, "Primes below this number")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return run_main(share, below);
}
