// SPDX-License-Identifier: Apache-2.0
// steal: processes that have finished steal half of the work that another one has left. The work of
// a process is a range of numbers in one word of its memory; thieves take from it by compare_swap
// while its owner computes and makes no call into weft.
//
//   weft-run -n 4 steal 6000
//     [0] rank 0: 2677 numbers, 5 thefts
//     [0] rank 1: 1633 numbers, 11 thefts
//     [0] rank 2: 936 numbers, 4 thefts
//     [0] rank 3: 754 numbers, 3 thefts
//     [0] 10943164 pairs of numbers up to 6000 have no common divisor
//
// The work: how many numbers below n have no common divisor with n (Euler's totient), for each n.
// It grows with n, so that equal ranges are unequal work.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <atomic>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;

/// The numbers from `first` on, below `last`. Both fit into one word, so that a range changes in
/// one step.
struct range {
  std::uint32_t first = 0, last = 0;

  static range of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
  }
  std::uint64_t word() const { return std::uint64_t{first} << 32 | last; }
  bool empty() const { return first >= last; }
  std::uint32_t middle() const { return first + (last - first) / 2; }
};

/// What a rank has done.
struct share {
  std::uint64_t numbers = 0, thefts = 0, sum = 0;
};

std::uint64_t totient(std::uint32_t n) {
  std::uint64_t found = 0;
  for (std::uint32_t k = 1; k <= n; ++k) found += std::gcd(n, k) == 1;
  return found;
}

/// Takes the next number of the own range, which thieves may shorten meanwhile.
std::optional<std::uint32_t> take(std::uint64_t& own) {
  const std::atomic_ref<std::uint64_t> word(own);
  std::uint64_t seen = word.load();
  for (;;) {
    const range left = range::of(seen);
    if (left.empty()) return {};
    if (word.compare_exchange_weak(seen, range{left.first + 1, left.last}.word()))
      return left.first;
  }
}

using words = std::vector<remote_region_of<std::uint64_t>>;  // of all ranks

/// Takes the second half of a victim's range. \return empty: the victim has no work left
task<range> steal_from(endpoint victim, const remote_region_of<std::uint64_t>& word) {
  std::uint64_t seen = co_await victim.load(word);
  for (;;) {
    const range left = range::of(seen);
    if (left.empty()) co_return range{};
    const std::uint64_t before =
        co_await victim.compare_swap(word, seen, range{left.first, left.middle()}.word());
    if (before == seen) co_return range{left.middle(), left.last};
    seen = before;  // another one was faster
  }
}

/// The victims in turn, beginning with the next rank. \return empty: no rank has work
task<range> steal(const group& world, const words& all) {
  for (peer_id step = 1; step < world.size(); ++step) {
    const peer_id victim = (world.rank() + step) % world.size();
    const range stolen = co_await steal_from(world[victim], all[victim]);
    if (!stolen.empty()) co_return stolen;
  }
  co_return range{};
}

task<share> work(const group& world, std::uint64_t& own, const words& all) {
  share mine;
  for (;;) {
    while (const std::optional<std::uint32_t> n = take(own)) {
      mine.sum += totient(*n);
      ++mine.numbers;
    }
    const range stolen = co_await steal(world, all);
    if (stolen.empty()) co_return mine;  // what is left was taken by ranks that compute
    ++mine.thefts;
    std::atomic_ref(own).store(stolen.word());  // thieves leave an empty range as it is
  }
}

/// The same sum by a sieve, on one rank.
std::uint64_t expected_sum(std::uint32_t last) {
  std::vector<std::uint32_t> phi(last + 1);
  std::iota(phi.begin(), phi.end(), 0u);
  for (std::uint32_t p = 2; p <= last; ++p)
    if (phi[p] == p)
      for (std::uint32_t n = p; n <= last; n += p) phi[n] -= phi[n] / p;
  return std::accumulate(phi.begin(), phi.end(), std::uint64_t{0});
}

task<void> add_totients(context& ctx, std::uint32_t last) {
  const group world = ctx.world();
  const auto begin_of = [&](std::uint64_t rank) {
    return static_cast<std::uint32_t>(1 + rank * last / world.size());
  };
  region_of<std::uint64_t> own(ctx, 1);
  own[0] = range{begin_of(world.rank()), begin_of(world.rank() + 1)}.word();
  const words all = co_await world.all_gather(own.remote());

  const share done = co_await work(world, own[0], all);
  const std::vector<share> shares = co_await world.gather(done);
  co_await world.barrier();  // until then, thieves may look at this rank's word
  if (world.rank() != 0) co_return;

  std::uint64_t sum = 0;
  for (peer_id r = 0; r != world.size(); ++r) {
    fmt::print("rank {}: {} numbers, {} thefts\n", r, shares[r].numbers, shares[r].thefts);
    sum += shares[r].sum;
  }
  if (sum != expected_sum(last)) throw std::runtime_error("the sum is wrong");
  fmt::print("{} pairs of numbers up to {} have no common divisor\n", sum, last);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t last = 6000;
  CLI::App app("Ranks that are idle steal work from those that are not.");
  app.add_option("last", last, "the last number")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return weft::run_main(add_totients, last);
}
