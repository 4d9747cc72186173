// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>

#include "collectives/algorithms/parts.hpp"
#include "collectives/flags/steps.hpp"

namespace weft::collectives {

namespace {

/// Ranks counted from the root.
struct from_root {
  from_root(const collective& c, peer_id root) noexcept
      : n(c.size()), first(root), me((c.rank() + n - root) % n) {}
  peer_id rank(peer_id relative) const noexcept { return (relative + first) % n; }
  /// The ranks from this one on that are below it in a binomial tree, itself included, if there are
  /// so many: the lowest bit of its number; for the root all.
  peer_id span() const noexcept { return me == 0 ? std::bit_ceil(n) : me & (~me + 1); }
  peer_id n, first, me;
};

/// A rank receives from the rank without its lowest bit, and sends to those with a lower bit
/// instead, the farthest first: so a message crosses into each host once.
task<void> broadcast_binomial(collective c, const arguments& with) {
  const from_root v(c, with.root);
  const mutable_buffer data = with.out;
  peer_id span = v.span();
  const bool last = span == 1 || v.me + 1 == v.n;
  if (last) c.leave_background(data.size());
  if (v.me != 0) co_await together(c, c.recv(v.rank(v.me - span), data));
  for (span /= 2; span != 0; span /= 2)
    if (v.me + span < v.n) co_await together(c, c.send(v.rank(v.me + span), data));
}

/// The segments of a pipelined chain: equal, up to the last one. The optimum of (s + n - 2)
/// (a + m/s b) is s = sqrt(m b (n - 2) / a), where `a` includes the handshake: a segment is no
/// smaller than what is worth one.
std::size_t chain_segment(std::size_t bytes, const group_shape& g) noexcept {
  constexpr std::size_t smallest = 128 * 1024;
  const message_costs cost = costs_of(g);
  const double m = static_cast<double>(bytes);
  const double segments =
      std::sqrt(m * cost.per_byte * std::max(1.0, static_cast<double>(g.ranks) - 2) /
                (cost.latency + cost.handshake));
  const auto size = static_cast<std::size_t>(m / std::max(1.0, segments));
  return std::max(smallest, (size + 4095) / 4096 * 4096);
}

/// Segment k comes in while segment k - 1 goes out.
task<void> broadcast_chain(collective c, const arguments& with) {
  const from_root v(c, with.root);
  const mutable_buffer data = with.out;
  const std::size_t size = chain_segment(data.size(), c.shape());
  const std::size_t segments = std::max<std::size_t>(1, (data.size() + size - 1) / size);
  const auto segment = [&](std::size_t k) {
    return data.subspan(k * size, std::min(size, data.size() - k * size));
  };
  const peer_id before = v.rank(v.me + v.n - 1), after = v.rank(v.me + 1);
  const bool last = v.me + 1 == v.n;
  if (v.me == 0) {
    for (std::size_t k = 0; k != segments; ++k) co_await together(c, c.send(after, segment(k)));
    co_return;
  }
  co_await together(c, c.recv(before, segment(0)));
  for (std::size_t k = 1; k != segments; ++k)
    if (last)
      co_await together(c, c.recv(before, segment(k)));
    else
      co_await together(c, c.recv(before, segment(k)), c.send(after, segment(k - 1)));
  if (!last) co_await together(c, c.send(after, segment(segments - 1)));
}

/// Block k belongs to the rank k after the root.
struct blocks_from_root {
  blocks_from_root(const collective& c, const arguments& with) noexcept
      : v(c, with.root), data(with.out), blocks(data.size(), 1, v.n) {}
  mutable_buffer run(peer_id from, peer_id to) const noexcept {
    return data.subspan(blocks.begin(from), blocks.begin(to) - blocks.begin(from));
  }
  /// In a binomial tree a rank has the blocks from its own on, up to those of the next rank that
  /// its parent sends to.
  task<void> scatter(const collective& c) const {
    peer_id span = v.span();
    if (v.me != 0)
      co_await together(c, c.recv(v.rank(v.me - span), run(v.me, std::min(v.me + span, v.n))));
    for (span /= 2; span != 0; span /= 2)
      if (v.me + span < v.n)
        co_await together(
            c, c.send(v.rank(v.me + span), run(v.me + span, std::min(v.me + 2 * span, v.n))));
  }

  const from_root v;
  const mutable_buffer data;
  const division blocks;
};

task<void> broadcast_scatter_all_gather(collective c, const arguments& with) {
  const blocks_from_root b(c, with);
  const from_root& v = b.v;
  co_await b.scatter(c);
  for (peer_id step = 0; step + 1 < v.n; ++step) {
    const peer_id out = (v.me + v.n - step) % v.n, in = (v.me + v.n - step - 1) % v.n;
    co_await together(c, c.recv(v.rank(v.me + v.n - 1), b.run(in, in + 1)),
                      c.send(v.rank(v.me + 1), b.run(out, out + 1)));
  }
}

/// A rank exchanges the 2^k blocks that it has with the rank me xor 2^k.
task<void> broadcast_scatter_doubling(collective c, const arguments& with) {
  const blocks_from_root b(c, with);
  const from_root& v = b.v;
  co_await b.scatter(c);
  for (peer_id have = 1; have < v.n; have *= 2) {
    const peer_id other = v.me ^ have;
    const peer_id mine = v.me & ~(have - 1), theirs = other & ~(have - 1);
    co_await together(c, c.recv(v.rank(other), b.run(theirs, theirs + have)),
                      c.send(v.rank(other), b.run(mine, mine + have)));
  }
}

/// In the slice of the root, then in each host.
task<void> broadcast_levels(collective c, const arguments& with) {
  const peer_id places = c.shape().per_host, place = with.root % places;
  const std::size_t bytes = with.out.size();
  const arguments between{.out = with.out, .root = with.root / places};
  const arguments inside{.out = with.out, .root = place};
  part_of_collective first(c.in_slice(collective::turn::before_others, false), kind::broadcast,
                           bytes, between);
  part_of_collective last(c.in_host(collective::turn::last), kind::broadcast, bytes, inside);
  if (c.rank() % places == place) co_await first.perform();
  co_await last.perform();
}

/// The root scatters blocks in its host, each slice broadcasts one, and each host gathers them.
task<void> broadcast_levels_parts(collective c, const arguments& with) {
  const peer_id places = c.shape().per_host, host = with.root / places;
  const peer_id me = c.rank() % places;
  const division blocks(with.out.size(), 1, places);
  const mutable_buffer mine = with.out.subspan(blocks.begin(me), blocks.size(me));
  if (c.rank() / places == host) {
    detail::byte_counts parts(places);
    for (peer_id k = 0; k != places; ++k) parts[k] = blocks.size(k);
    const arguments first{.in = with.out,
                          .out = mine,
                          .root = with.root % places,
                          .parts = sizes_of(std::move(parts), {})};
    part_of_collective scatter(c.in_host(collective::turn::before_others), kind::scatter, of_parts,
                               first);
    co_await scatter.perform();
  }
  const arguments between{.out = mine, .root = host};
  part_of_collective of_slice(c.in_slice(collective::turn::before_others), kind::broadcast,
                              mine.size(), between);
  co_await of_slice.perform();
  co_await pass_around(c.in_host(collective::turn::last), with.out, blocks);
}

const char* unfit_for_two(const collective_size&, const group_shape& g) {
  return g.ranks < 3 ? "fewer than 3 ranks" : nullptr;
}

const char* unfit_for_scatter(const collective_size& c, const group_shape& g) {
  if (const char* const why = unfit_for_two(c, g)) return why;
  return c.bytes < g.ranks ? "fewer bytes than ranks" : nullptr;
}
double of_scatter(const terms& t) {
  return t.log_n * (t.message(t.m / 2) - t.m / 2 * t.b) + t.share * t.b;
}
/// In each step a rank has the handshakes of two messages.
double of_doubling(const terms& t) {
  double sum = (t.crowd - 1) * t.share * t.b;
  double half = t.m;
  for (double step = 0; step != t.log_n; ++step) {
    half /= 2;
    sum += 2 * t.message(half) - t.message(0) - half * t.b;
  }
  return sum;
}

constexpr algorithm broadcast_algorithms[] = {
    // A tree of depth log2 n.
    {"binomial", [](const terms& t) { return t.tree(t.m); }, serves_always,
     in_frame<broadcast_binomial>, broadcast_binomial},
    // Rank r passes segments on to r + 1.
    {"chain",
     [](const terms& t) {
       const auto size = static_cast<double>(chain_segment(static_cast<std::size_t>(t.m), t.group));
       const double segments = std::max(1.0, std::ceil(t.m / size));
       return (segments + t.n - 2) * t.message(t.m / segments);
     },
     unfit_for_two, in_frame<broadcast_chain>, broadcast_chain},
    // A binomial scatter, then a ring (van de Geijn).
    {"scatter_all_gather",
     [](const terms& t) { return of_scatter(t) + (t.n - 1) * t.message(t.m / t.n); },
     unfit_for_scatter, in_frame<broadcast_scatter_all_gather>, broadcast_scatter_all_gather},
    // The root fills a slot while the others empty the one before it.
    {"flags", [](const terms& t) { return t.rounds(t.m) * t.flags() + t.m * t.f; }, unfit_for_flags,
     by_flags<broadcast_by_flags>, nullptr, &broadcast_by_flags},
    {"levels",
     [](const terms& t) {
       const cost_of_levels of(t);
       return of.in_slice(kind::broadcast, t.m, false) + of.in_host(kind::broadcast, t.m);
     },
     unfit_for_levels, in_frame<broadcast_levels>},
    {"levels_parts",
     [](const terms& t) {
       const cost_of_levels of(t);
       const double block = t.m / of.p();
       return of.in_host(kind::scatter, block) + of.in_slice(kind::broadcast, block) +
              (of.p() - 1) * of.of_host().message(block);
     },
     unfit_for_shares, in_frame<broadcast_levels_parts>},
    // A binomial scatter, then recursive doubling (Thakur et al. 2005).
    {"scatter_doubling", [](const terms& t) { return of_scatter(t) + of_doubling(t); },
     [](const collective_size& c, const group_shape& g) {
       return std::has_single_bit(g.ranks) ? unfit_for_scatter(c, g)
                                           : "the number of ranks is no power of two";
     },
     in_frame<broadcast_scatter_doubling>, broadcast_scatter_doubling}};

}  // namespace

constinit const collective_table broadcast_table{"broadcast", "from", broadcast_algorithms};

}  // namespace weft::collectives

namespace weft {

task<void> detail::broadcast(communicator_ptr of, mutable_buffer data, peer_id root) {
  return collectives::perform(collectives::broadcast_algorithms, std::move(of),
                              {collectives::kind::broadcast, data.size()},
                              {.out = data, .root = root});
}

}  // namespace weft
