// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithms/halving.hpp"
#include "collectives/algorithms/parts.hpp"
#include "collectives/flags/steps.hpp"

namespace weft::collectives {

namespace {

/// Up a binomial tree to rank 0, whose operands are in the order of ranks, and from there to the
/// root.
task<void> reduce_binomial(collective c, const arguments& with) {
  const const_buffer mine = with.in;
  const mutable_buffer result = with.out;
  const reduction& how = with.how;
  const peer_id root = with.root;
  const peer_id me = c.rank(), n = c.size();
  const bool commutes = how.commutative;
  // A commutative operation may begin at the root.
  const peer_id first = commutes ? root : 0;
  const peer_id v = (me + n - first) % n;
  const auto rank = [&](peer_id relative) { return (relative + first) % n; };
  const bool has_place = me == root && v == 0;
  scratch memory(mine.size() * (has_place ? 1 : 2));
  const mutable_buffer theirs = memory.part(0, mine.size());
  const mutable_buffer sum = has_place ? result : memory.part(mine.size(), mine.size());
  copy(mine, sum);
  for (peer_id step = 1; step < n; step *= 2) {
    if ((v & step) != 0) {
      co_await together(c, c.send(rank(v - step), sum));
      break;
    }
    if (v + step >= n) continue;
    co_await together(c, c.recv(rank(v + step), theirs));
    how(sum, theirs, sum.data());
  }
  if (first == root) co_return;
  if (me == first) co_await together(c, c.send(root, sum));
  if (me == root) co_await together(c, c.recv(first, result));
}

/// Reduces in a ring, so that each rank has one block of the result, and gathers the blocks.
task<void> reduce_ring(collective c, const arguments& with) {
  const const_buffer mine = with.in;
  const mutable_buffer result = with.out;
  const reduction& how = with.how;
  const peer_id root = with.root;
  const peer_id me = c.rank(), n = c.size();
  const division blocks(mine.size(), how.element, n);
  scratch memory(blocks.size(0) * 2);
  const auto block = [&](std::size_t k) { return mine.subspan(blocks.begin(k), blocks.size(k)); };
  // In step s the sum of block me - s - 1 comes, and that of block me - s goes on.
  mutable_buffer sum = memory.part(0, blocks.size(me));
  copy(block(me), sum);
  for (peer_id s = 0; s + 1 < n; ++s) {
    const peer_id in = (me + 2 * n - s - 1) % n;
    const mutable_buffer next = memory.part(s % 2 == 0 ? blocks.size(0) : 0, blocks.size(in));
    co_await together(c, c.recv(c.at(-1), next), c.send(c.at(1), sum));
    how(block(in), next, next.data());
    sum = next;
  }
  // This rank has the block of the rank after it.
  if (me != root) {
    co_await together(c, c.send(root, sum));
    co_return;
  }
  copy(sum, result.subspan(blocks.begin((me + 1) % n), sum.size()));
  for (peer_id d = 1; d < n; ++d) {
    const peer_id from = (me + d) % n, its = (from + 1) % n;
    co_await together(c, c.recv(from, result.subspan(blocks.begin(its), blocks.size(its))));
  }
}

/// Where a rank that is not the root works: in the place of its result.
class workplace {
 public:
  workplace(const collective& c, const arguments& with)
      : memory_(c.rank() == with.root ? 0 : with.in.size()),
        at_(c.rank() == with.root ? with.out : memory_.all()) {
    copy(with.in, at_);
  }
  mutable_buffer data() const noexcept { return at_; }

 private:
  scratch memory_;
  const mutable_buffer at_;
};

task<void> reduce_rabenseifner(collective c, const arguments& with) {
  const workplace place(c, with);
  halving all(c, place.data(), with.how);
  co_await all.reduce();
  co_await all.collect(with.root);
}

/// In each host to the member of the root's slice; then in that slice.
task<void> reduce_levels(collective c, const arguments& with) {
  const peer_id places = c.shape().per_host, place = with.root % places;
  const bool in_slice = c.rank() % places == place, is_root = c.rank() == with.root;
  const std::size_t bytes = with.in.size();
  scratch memory(in_slice && !is_root ? bytes : 0);
  const mutable_buffer mine = is_root ? with.out : memory.all();
  const arguments inside{.in = with.in, .out = mine, .root = place, .how = with.how};
  part_of_collective first(c.in_host(collective::turn::before_others), kind::reduce, bytes, inside);
  co_await first.perform();
  if (!in_slice) co_return;
  const arguments between{.in = mine, .out = with.out, .root = with.root / places, .how = with.how};
  part_of_collective last(c.in_slice(collective::turn::last, false), kind::reduce, bytes, between);
  co_await last.perform();
}

/// Each slice reduces a block of what its hosts have reduced; the root's host gathers them.
task<void> reduce_levels_parts(collective c, const arguments& with) {
  const peer_id places = c.shape().per_host, host = with.root / places;
  const workplace place(c, with);
  halving of_host(c.in_host(collective::turn::last), place.data(), with.how);
  co_await of_host.reduce();
  if (of_host.has_block()) {
    const arguments block{
        .in = of_host.block(), .out = of_host.block(), .root = host, .how = with.how};
    part_of_collective between(c.in_slice(collective::turn::before_others), kind::reduce,
                               block.in.size(), block);
    co_await between.perform();
  }
  if (c.rank() / places == host) co_await of_host.collect(with.root % places);
}

constexpr algorithm reduce_algorithms[] = {
    {"binomial", [](const terms& t) { return t.tree(t.m) + t.log_n * t.m * t.c; }, serves_always,
     in_frame<reduce_binomial>, reduce_binomial},
    {"ring", [](const terms& t) { return 2 * (t.n - 1) * t.a + t.share * (2 * t.b + t.c); },
     unfit_for_blocks, in_frame<reduce_ring>, reduce_ring},
    // The root reduces all operands.
    {"flags", [](const terms& t) { return t.flags() + t.m * t.f + (t.n - 1) * t.m * t.c; },
     unfit_for_flags, by_flags<reduce_by_flags>, nullptr, &reduce_by_flags},
    // Each rank reduces a part of all operands.
    {"flags_parts",
     [](const terms& t) { return 2 * t.rounds(t.m) * t.flags() + 2 * t.m * t.f + t.share * t.c; },
     unfit_for_flags, by_flags<reduce_in_parts>, nullptr, &reduce_in_parts},
    {"rabenseifner", cost_of_halving, unfit_for_blocks, in_frame<reduce_rabenseifner>,
     reduce_rabenseifner},
    {"levels",
     [](const terms& t) {
       const cost_of_levels of(t);
       return of.in_host(kind::reduce, t.m) + of.in_slice(kind::reduce, t.m, false);
     },
     unfit_for_levels, in_frame<reduce_levels>},
    {"levels_parts",
     [](const terms& t) {
       const cost_of_levels of(t);
       return cost_of_halving(of.of_host()) + of.in_slice(kind::reduce, t.m / of.p());
     },
     unfit_for_reduced_shares, in_frame<reduce_levels_parts>}};

}  // namespace

constinit const collective_table reduce_table{"reduce", "to", reduce_algorithms};

}  // namespace weft::collectives

namespace weft {

using namespace collectives;

task<void> detail::reduce(communicator_ptr of, const_buffer mine, mutable_buffer result,
                          reduction how, peer_id root) {
  if (of->rank() == root) check_apart(kind::reduce, mine, result, result.data());
  const collective_size size{kind::reduce, mine.size(), how.commutative, how.element};
  const std::uint16_t name = how.name;
  return perform(reduce_algorithms, std::move(of), size, {mine, result, root, std::move(how)},
                 name);
}

}  // namespace weft
