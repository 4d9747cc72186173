// SPDX-License-Identifier: Apache-2.0
// A job of three. Ranks 0 and 1 have a group of their own, and with rank 2 many groups and
// shared_flags. A thread of rank 2 writes garbage over the flag segments of these, while all ranks
// use them.
//   weft-run -n 3 flag_liar SEED
//
// Everything with rank 2 may end in any way, but has to end. In the group of ranks 0 and 1 every
// result is right. Both then say so.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;
using namespace std::chrono_literals;

constexpr peer_id liar = 2;
constexpr std::size_t groups = 8, sets = 4;
constexpr std::uint32_t flags_of_set = 40;

// ---------------------------------------------------------------- the thread of rank 2

struct segment {
  std::uint64_t* words;
  std::size_t count;
};

/// All flag segments of this process: each has rank 2 as a member.
std::vector<segment> all_segments() {
  std::vector<segment> all;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:weft-flags") == std::string::npos) continue;
    std::istringstream in(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    in >> std::hex >> begin >> dash >> end;
    all.push_back(
        {reinterpret_cast<std::uint64_t*>(begin), (end - begin) / 8});  // NOLINT: from the kernel
  }
  return all;
}

/// Writes into the segments until the process ends. The header has 16 words, each of the three
/// members 16, each flag 8.
class scribbler {
 public:
  explicit scribbler(unsigned seed) : random_(seed), all_(all_segments()) {
    if (all_.empty()) throw std::logic_error("found nothing to write to");
  }
  [[noreturn]] void run() {
    for (;;) {
      const segment& at = all_[random_() % all_.size()];
      const std::size_t place = where(at);
      std::uint64_t* const word = at.words + place;
      switch (random_() % 6) {
        case 0:
          store(word, ~std::uint64_t{0});
          break;
        case 1:
          store(word, 0);
          break;
        case 2:  // two halves that do not belong together
          store(word, load(word) ^ (std::uint64_t{1} << random_() % 64));
          break;
        case 3:  // a value that has been, or one that is to come
          store(word, load(word) + random_() % 64 - 32);
          break;
        case 4:  // it is right again before long
        {
          const std::uint64_t before = load(word);
          store(word, random_());
          store(word, before);
          break;
        }
        default:
          store(word, random_() >> random_() % 64);
      }
      // Calls come further now and then.
      if (random_() % 64 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(random_() % 500));
    }
  }

 private:
  static constexpr std::size_t header = 16, members = 48;

  std::size_t where(const segment& at) {
    std::size_t from = 0, count = at.count;
    switch (random_() % 5) {
      case 0:
        count = header;
        break;
      case 1:
        from = header, count = members;
        break;
      case 2:  // values
        return header + members + random_() % 100 * 8;
      case 3:  // values, and calls
        from = header + members, count = 800;
        break;
      default:
        break;
    }
    return from + random_() % std::min(count, at.count - from);
  }
  static std::uint64_t load(const std::uint64_t* at) noexcept {
    return __atomic_load_n(at, __ATOMIC_RELAXED);
  }
  static void store(std::uint64_t* at, std::uint64_t value) noexcept {
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
  }

  std::mt19937_64 random_;
  const std::vector<segment> all_;
};

// ---------------------------------------------------------------- what all ranks do

/// Any end is right, but a call that does not end is not: `within` needs no peer.
template <class Awaitable>
task<bool> ends_well(Awaitable call) {
  const auto end = co_await as_result(within(30ms, std::move(call)));
  co_return end.code() == errc::ok;
}

/// Until one of them fails.
task<void> use(group g) {
  std::vector<std::uint32_t> few(3, 1), many(30'000, 1), all(3 * 4'000), parts(4'000, 1);
  std::vector<std::uint32_t> out(3 * 100), in(3 * 100);
  for (int round = 0; round != 30; ++round) {
    const auto root = static_cast<peer_id>(round % 3);
    bool well = co_await ends_well(g.barrier());
    if (well) well = co_await ends_well(g.all_reduce(few));
    if (well) well = co_await ends_well(g.all_reduce(many));
    if (well) well = co_await ends_well(g.broadcast(many, root));
    if (well) well = co_await ends_well(g.all_gather(parts, all));
    if (well) well = co_await ends_well(g.scan(few));
    if (well) well = co_await ends_well(g.reduce(many, many, std::plus<>{}, root));
    if (well) well = co_await ends_well(g.gather(parts, all, root));
    if (well) well = co_await ends_well(g.scatter(all, parts, root));
    if (well) well = co_await ends_well(g.all_to_all(out, in));
    if (!well) co_return;
  }
}

task<void> use(shared_flags flags, peer_id self) {
  for (std::uint32_t round = 1; round != 60; ++round) {
    const std::uint32_t n = (round * 3 + self) % flags_of_set;
    flags.raise(n, round);
    flags.add((n + 1) % flags_of_set);
    co_await ends_well(flags.reaches((n + 2) % flags_of_set, round));
    co_await ends_well(flags.all_reach(n % 20, 20, round / 2));
    static_cast<void>(flags.value(n));
  }
}

task<void> check(group pair, int rounds) {
  for (int round = 0; round != rounds; ++round) {
    std::vector<std::uint64_t> many(10'000, pair.rank() + 1);
    co_await within(20s, pair.all_reduce(many));
    for (const std::uint64_t sum : many)
      if (sum != 3) throw std::logic_error("a sum of the two others is disturbed");
    const auto ranks = co_await within(20s, pair.all_gather(pair.rank()));
    if (ranks != std::vector<peer_id>{0, 1}) throw std::logic_error("so is an all_gather");
  }
}

task<void> check_flags(shared_flags flags, peer_id self, std::uint64_t rounds) {
  for (std::uint64_t r = 1; r <= rounds; ++r) {
    flags.as<std::uint64_t>()[self] = r;
    flags.raise(self, r);
    co_await within(20s, flags.reaches(1 - self, r));
    if (flags.as<std::uint64_t>()[1 - self] < r)
      throw std::logic_error("so are their shared_flags");
  }
}

task<void> play(context& ctx, int, char** argv) {
  const group world = ctx.world();
  const peer_id self = world.rank();
  const auto seed = static_cast<unsigned>(std::stoul(argv[1]));
  std::vector<group> victims;
  std::vector<shared_flags> sets_of_flags;
  for (std::size_t i = 0; i != groups; ++i) victims.push_back(co_await world.split(0));
  for (std::size_t i = 0; i != sets; ++i)
    sets_of_flags.push_back(co_await shared_flags::make(world, flags_of_set, 4096));
  for (const group& g : victims) co_await g.barrier();
  const group pair = co_await world.split(self == liar);
  std::optional<shared_flags> own;
  if (self != liar) {
    own = co_await shared_flags::make(pair, 2, 64);
    co_await check(pair, 10);
  }
  co_await world.barrier();
  if (self == liar) std::thread([seed] { scribbler(seed).run(); }).detach();

  scope work;
  for (const group& g : victims) work.start(use(g));
  for (const shared_flags& f : sets_of_flags) work.start(use(f, self));
  if (self != liar) {
    work.start(check(pair, 200));
    work.start(check_flags(*own, self, 2'000));
  }
  co_await work.join();
  if (self == liar) std::_Exit(0);
  // Without a deadline: the liar has gone, or will.
  for (const shared_flags& f : sets_of_flags)
    static_cast<void>(co_await as_result(f.reaches(1, ~std::uint64_t{0})));
  for (const group& g : victims) static_cast<void>(co_await as_result(g.barrier()));
  co_await check(pair, 50);
  co_await pair.barrier();
  std::cout << "well after\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: flag_liar <seed>\n";
    return 2;
  }
  return weft::run_main(play, argc, argv);
}
