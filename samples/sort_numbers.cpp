// SPDX-License-Identifier: Apache-2.0
// sort_numbers: sorts a file of 64-bit numbers on several processes (a sample sort), and checks the
// result.
//
//   weft-run -n 4 sort_numbers --make 1000000 numbers sorted
//     [0] 1000000 numbers in order, on 4 ranks: the largest part had 251146
//
// Each process reads its part of `numbers`, sorts it, sends every number to the process that gets
// its range, and writes the range to its place in `sorted`. Without --make it sorts what is there.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;
using numbers = std::vector<std::uint64_t>;

constexpr std::size_t width = sizeof(std::uint64_t);

/// The first number of a rank's part, where `count` numbers are divided equally.
std::uint64_t first_of(peer_id rank, peer_id ranks, std::uint64_t count) {
  return count / ranks * rank + std::min<std::uint64_t>(rank, count % ranks);
}

std::uint64_t sum_of(const numbers& some) {
  return std::accumulate(some.begin(), some.end(), std::uint64_t{0});
}

/// A number that looks like chance, and is the same in each run (splitmix64).
std::uint64_t number_at(std::uint64_t place) {
  std::uint64_t x = (place + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr int new_file = O_RDWR | O_CREAT | O_TRUNC;

task<void> make_input(group world, std::string path, std::uint64_t count) {
  file made = co_await file::open(world, path, new_file);
  const std::uint64_t first = first_of(world.rank(), world.size(), count);
  numbers mine(first_of(world.rank() + 1, world.size(), count) - first);
  for (std::size_t i = 0; i != mine.size(); ++i) mine[i] = number_at(first + i);
  co_await made.write_exactly(first * width, mine);
  co_await made.close();
  co_await world.barrier();
}

task<numbers> read_numbers(file& from, std::uint64_t first, std::uint64_t last) {
  numbers some(last - first);
  co_await from.read_exactly(first * width, some);
  co_return some;
}

/// The numbers that divide the ranges of the ranks: all ranks' samples have the same choice.
task<numbers> choose_splitters(group world, const numbers& sorted) {
  constexpr std::size_t samples = 64;
  numbers mine(samples, std::numeric_limits<std::uint64_t>::max()), all(samples * world.size());
  for (std::size_t i = 0; i != samples && !sorted.empty(); ++i)
    mine[i] = sorted[i * sorted.size() / samples];
  co_await world.all_gather(mine, all);
  std::ranges::sort(all);
  numbers splitters;
  for (peer_id r = 1; r != world.size(); ++r) splitters.push_back(all[r * samples]);
  co_return splitters;
}

/// Gives every rank the numbers of its range. \return this rank's range, sorted
task<numbers> exchange(group world, const numbers& sorted, const numbers& splitters) {
  std::vector<std::size_t> to(world.size());
  auto begin = sorted.begin();
  for (peer_id r = 0; r != world.size(); ++r) {
    const auto end =
        r == splitters.size() ? sorted.end() : std::upper_bound(begin, sorted.end(), splitters[r]);
    to[r] = static_cast<std::size_t>(end - begin);
    begin = end;
  }
  received_parts<std::uint64_t> mine = co_await world.all_to_all_parts(sorted, to);
  std::ranges::sort(mine.elements);
  co_return std::move(mine.elements);
}

/// Reads an equal part of the result, and the number before it. \return the sum of that part
task<std::uint64_t> check_order(group world, file& result, std::uint64_t count) {
  const std::uint64_t first = first_of(world.rank(), world.size(), count);
  const std::uint64_t last = first_of(world.rank() + 1, world.size(), count);
  const std::uint64_t before = first == 0 ? 0 : first - 1;
  const numbers part = co_await read_numbers(result, before, last);
  if (!std::ranges::is_sorted(part))
    throw std::runtime_error(fmt::format("not in order between {} and {}", before, last));
  co_return sum_of(part) - (before == first ? 0 : part.front());
}

task<void> sort_file(context& ctx, std::string input, std::string output, std::uint64_t make) {
  const group world = ctx.world();
  if (make != 0) co_await make_input(world, input, make);

  file in = co_await file::open(world, input, O_RDONLY);
  const std::uint64_t bytes = co_await in.size();
  if (bytes % width != 0) throw std::runtime_error(input + " has no whole number of numbers");
  const std::uint64_t count = bytes / width;
  numbers mine = co_await read_numbers(in, first_of(world.rank(), world.size(), count),
                                       first_of(world.rank() + 1, world.size(), count));
  const std::uint64_t sum = sum_of(mine);

  std::ranges::sort(mine);
  const numbers splitters = co_await choose_splitters(world, mine);
  mine = co_await exchange(world, mine, splitters);

  const std::uint64_t end =
      co_await world.scan(std::uint64_t{mine.size()});  // of this rank's range
  file out = co_await file::open(world, output, new_file);
  co_await out.write_exactly((end - mine.size()) * width, mine);
  co_await world.barrier();

  const std::uint64_t sum_out = co_await check_order(world, out, count);
  if (co_await world.all_reduce(sum - sum_out) != 0) throw std::runtime_error("numbers were lost");
  const std::uint64_t largest = co_await world.all_reduce(std::uint64_t{mine.size()}, maximum{});
  if (world.rank() == 0)
    fmt::print("{} numbers in order, on {} ranks: the largest part had {}\n", count, world.size(),
               largest);
}

}  // namespace

int main(int argc, char** argv) {
  std::string input, output;
  std::uint64_t make = 0;
  CLI::App app("Sorts a binary file of 64-bit numbers on all ranks.");
  app.add_option("input", input, "the file with the numbers")->required();
  app.add_option("output", output, "the file for the sorted numbers")->required();
  app.add_option("--make", make, "first write so many numbers to the input");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return weft::run_main(sort_file, input, output, make);
}
