// SPDX-License-Identifier: Apache-2.0
// Collectives that are called wrongly, by whole jobs.
//   weft-run -n 3 collective_misuse different  rank 1 makes another call than the others; all get
//   an
//                                              error that names both
//   weft-run -n 3 collective_misuse overlap    ranges in place, and refused ones
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "collective_data.hpp"

namespace {

using namespace weft;
using namespace std::chrono_literals;
using namespace collective_data;

task<void> broadcast_from(group g, std::size_t bytes, peer_id root) {
  std::vector<char> data(bytes);
  co_await g.broadcast(data, root);
}
task<void> sum_of(group g, std::size_t count) {
  numbers data(count);
  co_await g.all_reduce(data);
}
template <class Op>
task<void> reduce_by(group g, Op op) {
  static_cast<void>(co_await g.reduce(std::uint64_t{1}, op));
}
task<void> gather_counted(group g, std::size_t mine, std::size_t of_rank_1) {
  std::vector<std::size_t> counts(g.size(), 2);
  counts[1] = of_rank_1;
  const numbers part(mine);
  numbers all(g.rank() == 0 ? std::accumulate(counts.begin(), counts.end(), std::size_t{0}) : 0);
  co_await g.gather(part, all, counts);
}
task<void> many_broadcasts(group g) {
  for (int i = 0; i != 300; ++i) co_await broadcast_from(g, 8, 0);
}
task<void> divide(group g) { static_cast<void>(co_await g.split(0)); }
task<void> gather_words(group g) { static_cast<void>(co_await g.all_gather(std::uint64_t{})); }

struct mistake {
  const char* what;
  std::function<task<void>(group)> right, wrong;
  std::vector<std::string> named;  ///< by the error, at all members
};

std::vector<mistake> mistakes() {
  const auto broadcast = [](std::size_t bytes, peer_id root) {
    return [=](group g) { return broadcast_from(g, bytes, root); };
  };
  const auto sum = [](std::size_t count) { return [=](group g) { return sum_of(g, count); }; };
  const auto barrier = [](group g) { return g.barrier(); };
  return {
      {"sizes, and so algorithms",
       broadcast(600'000, 0),
       broadcast(700'000, 0),
       {"broadcast of 700000 bytes from root 0", "broadcast of 600000 bytes from root 0"}},
      {"short sizes", broadcast(100, 0), broadcast(50, 0), {"of 100 bytes", "of 50 bytes"}},
      {"roots", broadcast(8, 0), broadcast(8, 1), {"from root 0", "from root 1"}},
      {"roots that both wait", broadcast(8, 2), broadcast(8, 0), {"from root 2", "from root 0"}},
      {"a barrier and a sum", sum(1), barrier, {"all_reduce of 8 bytes, by plus", "barrier"}},
      {"a sum and a barrier", barrier, sum(1), {"all_reduce of 8 bytes, by plus", "barrier"}},
      {"sizes of a sum", sum(2), sum(200'000), {"of 16 bytes", "of 1600000 bytes"}},
      {"operations",
       [](group g) { return reduce_by(g, std::plus<>{}); },
       [](group g) { return reduce_by(g, maximum{}); },
       {"by plus", "by maximum"}},
      {"the size of one part",
       [](group g) { return gather_counted(g, g.rank() == 1 ? 3 : 2, 3); },
       [](group g) { return gather_counted(g, 5, 3); },
       {"gather of 40 bytes to root 0", "gather of 24 bytes to root 0"}},
      {"parts and one size",
       [](group g) { return gather_counted(g, 2, 2); },
       [](group g) { return g.gather(std::span<const int>(), std::span<int>()); },
       {"gather of parts of different sizes", "gather of 0 bytes"}},
      {"long ago", many_broadcasts, barrier, {"called"}},
      {"a split", divide, gather_words, {"of a split", "all_gather of 8 bytes"}},
  };
}

/// A member that ended its collective well learns of the mistake in a later one.
task<void> until_it_fails(group g, std::function<task<void>(group)> make) {
  co_await make(g);
  for (;;) co_await g.barrier();
}

task<void> different_calls(context& ctx) {
  const group world = ctx.world();
  for (const mistake& m : mistakes()) {
    const group g = co_await world.split(0);
    const auto end =
        co_await as_result(within(60s, until_it_fails(g, g.rank() == 1 ? m.wrong : m.right)));
    const std::string text = end ? "ok" : end.failure().what();
    std::cout << m.what << ", rank " << g.rank() << ": " << text << std::endl;
    expect(end.code() == errc::invalid_argument, m.what);
    for (const std::string& part : m.named)
      expect(text.find(part) != text.npos, std::string(m.what) + " does not name " + part);
    const group next = co_await g.shrink();
    co_await next.barrier();
  }
}

/// In place, where that is right, by each algorithm; and refused elsewhere.
task<void> overlapping_ranges(context& ctx) {
  const group g = ctx.world();
  const peer_id n = g.size(), me = g.rank();
  const auto refused = [](auto make) {
    try {
      static_cast<void>(make());
    } catch (const error& e) {
      return e.kind() == errc::invalid_argument;
    }
    return false;
  };
  for (const std::size_t count : {1u, 1'000u, 100'000u}) {
    numbers all(count * n);
    const std::span<std::uint64_t> ours(all), mine = ours.subspan(me * count, count);
    expect(refused([&] { return g.all_to_all(all, all); }), "all_to_all in place");
    numbers many(2 * n - 1);
    expect(refused([&] { return g.all_to_all(std::span(many).first(n), std::span(many).last(n)); }),
           "all_to_all of ranges that overlap in part");
    const peer_id other = (me + 1) % n;
    if (n != 1)
      expect(refused([&] { return g.all_gather(ours.subspan(other * count, count), all); }),
             "all_gather of another one's place");
    numbers everything;
    for (peer_id r = 0; r != n; ++r) {
      const auto its = filled(count, r, number);
      everything.insert(everything.end(), its.begin(), its.end());
    }
    const auto fill = [&] {
      std::fill(all.begin(), all.end(), 0);
      for (std::size_t i = 0; i != count; ++i) mine[i] = number(me, i);
    };
    fill();
    co_await g.all_gather(mine, all);
    expect(all == everything, "all_gather in place");
    for (peer_id root = 0; root != n; ++root) {
      fill();
      co_await g.gather(mine, all, root);
      if (me == root) expect(all == everything, "gather in place");
      if (me == root)
        all = everything;
      else
        std::fill(all.begin(), all.end(), 0);
      co_await g.scatter(all, mine, root);
      expect(std::equal(mine.begin(), mine.end(), everything.begin() + std::ptrdiff_t(me * count)),
             "scatter in place");
      numbers sum = filled(count, me, number);
      co_await g.reduce(sum, sum, std::plus<>{}, root);
      if (me == root)
        expect(sum == reduced(count, n - 1, number, std::plus<>{}), "reduce in place");
    }
  }
}

}  // namespace

int main(int given, char** arguments) {
  context ctx;
  try {
    run(ctx, given > 1 && arguments[1] == std::string("overlap") ? overlapping_ranges(ctx)
                                                                 : different_calls(ctx));
  } catch (const std::exception& e) {
    std::cerr << "rank " << ctx.world().rank() << " failed: " << e.what() << std::endl;
    return 1;
  }
}
