// SPDX-License-Identifier: Apache-2.0
// Collectives of whole jobs, with results that each rank can compute by itself.
//   weft-run -n 5 collectives results    every collective, size and root; groups of groups; a
//                                        number behind it: up to so many elements
//   weft-run -n 3 collectives computing  they move while all ranks compute
//   weft-run -n 5 collectives killed 1   rank 1 dies in a collective; the others go on without it
//   weft-run -n 4 collectives stopped    rank 1 stops a collective; all make a new group
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <iostream>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "collective_data.hpp"

namespace {

using namespace weft;
using namespace std::chrono_literals;
using namespace collective_data;

/// x -> factor x + offset: composing such functions is associative, and not commutative.
struct affine {
  std::uint32_t factor, offset;
  friend bool operator==(const affine&, const affine&) = default;
};
struct compose {
  affine operator()(const affine& first, const affine& then) const {
    return {first.factor * then.factor, first.offset * then.factor + then.offset};
  }
};

/// An operation with a state.
struct sum_and_offset {
  std::uint64_t offset;
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a + b + offset; }
};

/// The function at place i of rank r.
affine function(peer_id r, std::size_t i) {
  return {2 * r + 3, static_cast<std::uint32_t>(i) + 7 * r};
}

task<void> reductions(group g, std::size_t count) {
  const peer_id n = g.size(), me = g.rank();
  auto sums = filled(count, me, number);
  co_await g.all_reduce(sums);
  expect(sums == reduced(count, n - 1, number, std::plus<>{}), "all_reduce by plus");
  auto composed = filled(count, me, function);
  co_await g.all_reduce(composed, compose{});
  expect(composed == reduced(count, n - 1, function, compose{}), "all_reduce in order");
  auto largest = filled(count, me, number);
  co_await g.all_reduce(largest, maximum{});
  expect(largest == filled(count, n - 1, number), "all_reduce by maximum");
  auto shifted = filled(count, me, number);
  co_await g.all_reduce(shifted, sum_and_offset{5});
  for (std::size_t i = 0; i != count; ++i)
    expect(shifted[i] == sums[i] + 5 * (n - 1), "all_reduce with a state");
  auto up_to_here = filled(count, me, function);
  co_await g.scan(up_to_here, compose{});
  expect(up_to_here == reduced(count, me, function, compose{}), "scan in order");
  for (peer_id root = 0; root != n; ++root) {
    const auto mine = filled(count, me, number);
    const auto ours = filled(count, me, function);
    numbers sum(me == root ? count : 0);
    std::vector<affine> all(me == root ? count : 0);
    co_await g.reduce(mine, sum, std::plus<>{}, root);
    co_await g.reduce(ours, all, compose{}, root);
    if (me != root) continue;
    expect(sum == sums, "reduce by plus");
    expect(all == composed, "reduce in order");
  }
}

task<void> movements(group g, std::size_t count) {
  const peer_id n = g.size(), me = g.rank();
  const auto mine = filled(count, me, number);
  numbers everything;
  for (peer_id r = 0; r != n; ++r) {
    const auto its = filled(count, r, number);
    everything.insert(everything.end(), its.begin(), its.end());
  }
  numbers all(count * n);
  co_await g.all_gather(mine, all);
  expect(all == everything, "all_gather");
  for (peer_id root = 0; root != n; ++root) {
    auto sent = filled(count, me, number);
    co_await g.broadcast(sent, root);
    expect(sent == filled(count, root, number), "broadcast");
    numbers gathered(me == root ? count * n : 0);
    co_await g.gather(mine, gathered, root);
    if (me == root) expect(gathered == everything, "gather");
    numbers part(count);
    const numbers parts = me == root ? everything : numbers{};
    co_await g.scatter(parts, part, root);
    expect(part == mine, "scatter");
  }
  // Rank s sends to rank r what is number(s, .) + r.
  numbers out(count * n), in(count * n);
  for (std::size_t k = 0; k != out.size(); ++k) out[k] = number(me, k % count) + k / count;
  co_await g.all_to_all(out, in);
  for (std::size_t k = 0; k != in.size(); ++k)
    expect(in[k] == number(static_cast<peer_id>(k / count), k % count) + me, "all_to_all");
}

/// Rank s has s + r elements for rank r.
task<void> counted(group g) {
  const peer_id n = g.size(), me = g.rank();
  std::vector<std::size_t> counts(n);
  for (peer_id r = 0; r != n; ++r) counts[r] = me + r;
  numbers out(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), me);
  numbers in(out.size());
  co_await g.all_to_all(out, counts, in, counts);
  std::size_t at = 0;
  for (peer_id r = 0; r != n; ++r)
    for (std::size_t i = 0; i != counts[r]; ++i) expect(in[at++] == r, "all_to_all with counts");
  const numbers mine(me, me);
  for (peer_id r = 0; r != n; ++r) counts[r] = r;
  numbers all(me == 0 ? std::accumulate(counts.begin(), counts.end(), std::size_t{0}) : 0);
  co_await g.gather(mine, all, counts, 0);
  at = 0;
  for (peer_id r = 0; r != n && me == 0; ++r)
    for (peer_id i = 0; i != r; ++i) expect(all[at++] == r, "gather with counts");
  numbers back(me);
  co_await g.scatter(all, counts, back);
  expect(back == mine, "scatter with counts");
}

/// Values in place of ranges, and results in new memory.
task<void> values(group g) {
  const peer_id n = g.size(), me = g.rank(), root = n - 1;
  const std::vector<peer_id> ranks = co_await g.all_gather(me);
  expect(ranks.size() == n && ranks[root] == root, "all_gather of a value");
  const std::vector<peer_id> at_root = co_await g.gather(me, root);
  expect(at_root == (me == root ? ranks : std::vector<peer_id>{}), "gather of a value");
  const peer_id mine = co_await g.scatter(at_root, root);
  expect(mine == me, "scatter of a value");
  const peer_id up_to_here = co_await g.scan(me);
  expect(up_to_here == me * (me + 1) / 2, "scan of a value");
  const std::optional<peer_id> sum = co_await g.reduce(me, std::plus<>{}, root);
  expect(sum.has_value() == (me == root) && sum.value_or(n * root / 2) == n * root / 2,
         "reduce of a value");

  // As above: rank s has s + r elements for rank r.
  std::vector<std::size_t> counts(n);
  for (peer_id r = 0; r != n; ++r) counts[r] = me + r;
  numbers out;
  for (peer_id r = 0; r != n; ++r) out.insert(out.end(), counts[r], 100 * me + r);
  const received_parts<std::uint64_t> in = co_await g.all_to_all_parts(out, counts);
  expect(in.counts == counts, "all_to_all_parts yields the counts");
  for (peer_id r = 0; r != n; ++r) {
    const std::span<const std::uint64_t> part = in.of(r);
    expect(numbers(part.begin(), part.end()) == numbers(me + r, 100 * r + me),
           "all_to_all_parts yields the parts");
  }
}

/// Messages with one tag in two groups with the same members, and with none, do not mix.
task<void> own_tags(context& ctx, group a, group b) {
  const peer_id n = a.size(), next = (a.rank() + 1) % n, before = (a.rank() + n - 1) % n;
  const tag t{1};
  const endpoint to = a[next], from = a[before];
  co_await to.send_value(a.own_tag(t), 1);
  co_await to.send_value(b.own_tag(t), 2);
  co_await to.send_value(t, 3);
  const int of_none = co_await from.recv_value<int>(any_tag);
  const int of_b = co_await from.recv_value<int>(b.own_tag(t));
  const int of_a = co_await from.recv_value<int>(a.own_tag(t));
  expect(of_none == 3 && of_b == 2 && of_a == 1, "tags of groups");
  expect(a.rank_of(from) == before && !a.rank_of(endpoint()), "the rank of a member");
  bool refused = false;
  try {
    co_await ctx.recv_value<int>(a.own_tag(t));
  } catch (const error& e) {
    refused = e.kind() == errc::invalid_argument;
  }
  expect(refused && a.lost().empty(), "a tag of a group has no wildcard");
}

/// Many at once, of two groups with the same members.
task<void> overlapping(group a, group b) {
  constexpr std::size_t many = 40;
  std::vector<numbers> sums;
  for (std::size_t k = 0; k != many; ++k) sums.push_back(filled(k * k * 3, a.rank(), number));
  scope all;
  for (std::size_t k = 0; k != many; ++k) all.start((k % 3 == 0 ? b : a).all_reduce(sums[k]));
  std::uint64_t word = a.rank() == 0 ? 99 : 0;
  all.start(b.broadcast(word));
  co_await all.join();
  for (std::size_t k = 0; k != many; ++k)
    expect(sums[k] == reduced(k * k * 3, a.size() - 1, number, std::plus<>{}), "overlapping sums");
  expect(word == 99, "overlapping broadcast");
  const peer_id ranks = co_await a.all_reduce(peer_id{1});
  expect(ranks == a.size(), "all_reduce of a value");
}

task<void> results(context& ctx, std::size_t most) {
  const group world = ctx.world();
  for (const std::size_t count : {0u, 1u, 3u, 100u, 2'000u, 20'000u, 140'000u}) {
    if (count > most) break;
    co_await reductions(world, count);
    if (count <= 20'000) co_await movements(world, count);
  }
  co_await counted(world);
  co_await values(world);
  const int rank = static_cast<int>(world.rank());
  const group same = co_await world.split(0);
  co_await overlapping(world, same);
  co_await own_tags(ctx, world, same);
  // In the reverse order, and divided.
  const group parts = co_await world.split(rank % 2, -rank);
  const peer_id highest = world.size() - 1 - (world.size() - 1 + world.rank()) % 2;
  peer_id first = world.rank();
  co_await parts.broadcast(first);
  expect(first == highest, "the order of keys");
  co_await reductions(parts, 500);
  co_await movements(parts, 500);
  const group again = co_await parts.split(0);
  co_await again.barrier();
  // The same words without a message.
  std::vector<endpoint> members;
  for (peer_id r = 0; r != world.size(); ++r) members.push_back(world[r]);
  const group named = group::of(ctx, members, world.rank(), "everybody");
  co_await reductions(named, 1'000);
  bool refused = false;
  try {
    static_cast<void>(group::of(ctx, members, world.rank(), "everybody"));
  } catch (const error& e) {
    refused = e.kind() == errc::invalid_argument;
  }
  expect(refused, "two groups with one name");
  const group viewed = group::of(ctx, membership(ctx).now());
  co_await movements(viewed, 100);
}

/// The end comes while this thread computes: the chain's last step is on the background executor.
task<void> reduce_in_background(group g, context& ctx, numbers& data, std::atomic<bool>& ended) {
  co_await resume_on(background(ctx));
  co_await g.all_reduce(data);
  ended = true;
  co_await resume_home();
}

task<void> computing(context& ctx) {
  const group world = ctx.world();
  for (const std::size_t count : {1u, 1'000u, 100'000u}) {
    co_await world.barrier();
    auto data = filled(count, world.rank(), number);
    std::atomic<bool> ended{false};
    scope fly;
    fly.start(reduce_in_background(world, ctx, data, ended));
    // All ranks compute until they have their result, without a call of weft.
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (!ended && std::chrono::steady_clock::now() < limit) {
    }
    expect(ended, "an all_reduce while all ranks compute");
    co_await fly.join();
    expect(data == reduced(count, world.size() - 1, number, std::plus<>{}), "its result");
  }
}

task<void> all_reduce_for_ever(group g) {
  co_await g.barrier();
  for (;;) {
    auto data = filled(3'000, g.rank(), number);
    co_await g.all_reduce(data);
    expect(data == reduced(3'000, g.size() - 1, number, std::plus<>{}), "a sum before the end");
  }
}

task<void> go_on(group g, peer_id ranks) {
  expect(g.size() == ranks, "the size of the group that is left");
  for (int i = 0; i != 20; ++i) co_await reductions(g, 200);
}

/// A rank is killed in the middle of a collective.
task<void> killed(context& ctx, peer_id victim) {
  const group world = ctx.world();
  if (world.rank() == victim) {
    co_await world.barrier();
    scope fly;
    auto data = filled(3'000, victim, number);
    fly.start(world.all_reduce(data));
    ::kill(::getpid(), SIGKILL);
  }
  const auto end = co_await as_result(all_reduce_for_ever(world));
  expect(end.code() == errc::peer_lost,
         std::string("the error after a death: ") + end.failure().what());
  std::cout << "rank " << world.rank() << ": " << end.failure().what() << std::endl;
  const auto again = co_await as_result(world.barrier());
  expect(again.code() == errc::peer_lost, "the group has failed for good");
  expect(world.lost() == std::vector<peer_id>{victim}, "the group knows which rank is lost");
  const group left = co_await world.shrink();
  co_await go_on(left, world.size() - 1);
  // One after the other, until one is left.
  group now = left;
  while (now.size() != 1) {
    // All have left the calls before: a death also ends those that only this rank has left.
    if (now.rank() == 0) {
      for (peer_id r = 1; r != now.size(); ++r) co_await ctx.recv(mutable_buffer{}, tag{3});
      ::kill(::getpid(), SIGKILL);
    }
    co_await now[0].send(const_buffer{}, tag{3});
    const auto next = co_await as_result(now.barrier());
    expect(is_loss(next.code()), "the error after another death");
    now = co_await now.shrink();
  }
}

task<void> stopped(context& ctx) {
  const group world = ctx.world();
  const group other = co_await world.split(0);
  // All have left the split before rank 1 stops the next collective: its end has to reach them in
  // that one.
  if (world.rank() != 1) co_await world[1].send(const_buffer{}, tag{2});
  if (world.rank() == 1) {
    for (peer_id r = 1; r != world.size(); ++r) co_await ctx.recv(mutable_buffer{}, tag{2});
    const auto end = co_await as_result(within(20ms, world.barrier()));
    expect(end.code() == errc::timed_out, "the deadline of a barrier");
    for (peer_id r = 0; r != world.size(); ++r)
      if (r != 1) co_await world[r].send(const_buffer{}, tag{1});
  } else if (world.rank() == 0) {
    co_await world[1].recv(mutable_buffer{}, tag{1});  // never enters the barrier
  } else {
    const auto end = co_await as_result(world.barrier());
    expect(end.code() == errc::stopped, "a barrier that another rank stopped");
    std::cout << "rank " << world.rank() << ": " << end.failure().what() << std::endl;
    co_await world[1].recv(mutable_buffer{}, tag{1});
  }
  co_await go_on(other, world.size());  // another group is not concerned
  const group again = co_await world.shrink();
  co_await go_on(again, world.size());
}

}  // namespace

int main(int given, char** arguments) {
  const std::string what = arguments[1];
  const std::size_t most = given > 2 ? std::stoul(arguments[2]) : 1'000'000;
  context ctx;
  try {
    run(ctx, what == "results"     ? results(ctx, most)
             : what == "computing" ? computing(ctx)
             : what == "killed"    ? killed(ctx, static_cast<peer_id>(std::stoul(arguments[2])))
                                   : stopped(ctx));
  } catch (const std::exception& e) {
    std::cerr << "rank " << ctx.world().rank() << " failed: " << e.what() << std::endl;
    return 1;
  }
}
