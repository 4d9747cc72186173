// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithms/data.hpp"
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

constexpr algorithm reduce_algorithms[] = {
    {"binomial", [](const terms& t) { return t.log_n * (t.a + t.m * (t.b + t.c)); }, serves_always,
     in_frame<reduce_binomial>},
    {"ring", [](const terms& t) { return 2 * (t.n - 1) * t.a + t.share * (2 * t.b + t.c); },
     unfit_for_blocks, in_frame<reduce_ring>},
    // The root reduces all operands.
    {"flags", [](const terms& t) { return t.flags() + t.m * t.f + (t.n - 1) * t.m * t.c; },
     unfit_for_flags, by_flags<reduce_by_flags>},
    // Each rank reduces a part of all operands.
    {"flags_parts",
     [](const terms& t) { return 2 * t.rounds(t.m) * t.flags() + 2 * t.m * t.f + t.share * t.c; },
     unfit_for_flags, by_flags<reduce_in_parts>}};

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
