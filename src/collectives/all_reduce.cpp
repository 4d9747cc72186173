// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "collectives/algorithms.hpp"

namespace weft::collectives {

namespace {

/// A number of ranks that is no power of two is folded: each of the first pairs of ranks becomes
/// one, whose even rank waits for the result meanwhile.
struct folding {
  explicit folding(const collective& c) noexcept
      : n(std::bit_floor(c.size())),
        extra(c.size() - n),
        me(c.rank()),
        idle(me < 2 * extra && me % 2 == 0),
        folded(me < 2 * extra ? me / 2 : me - extra) {}
  peer_id rank(peer_id folded_rank) const noexcept {
    return folded_rank < extra ? 2 * folded_rank + 1 : folded_rank + extra;
  }
  bool is_pair() const noexcept { return me < 2 * extra; }
  peer_id n, extra, me;
  bool idle;
  peer_id folded;
};

task<void> fold(const collective& c, const folding& f, mutable_buffer data, mutable_buffer theirs,
                const reduction& how) {
  if (!f.is_pair()) co_return;
  if (f.idle) {
    co_await together(c, c.send(f.me + 1, data));
  } else {
    co_await together(c, c.recv(f.me - 1, theirs));
    how(theirs, data, data.data());
  }
}

task<void> unfold(const collective& c, const folding& f, mutable_buffer data) {
  if (!f.is_pair()) co_return;
  if (f.idle) {
    c.leave_background(data.size());
    co_await together(c, c.recv(f.me + 1, data));
  } else {
    co_await together(c, c.send(f.me - 1, data));
  }
}

}  // namespace

task<void> all_reduce_doubling(detail::communicator_ptr group, collective_call made,
                               mutable_buffer data, reduction how) {
  const collective c = co_await begin(group, made);
  std::exception_ptr failure;
  try {
    const folding f(c);
    scratch theirs(data.size());
    if (f.is_pair()) co_await fold(c, f, data, theirs.all(), how);
    for (peer_id step = 1; !f.idle && step < f.n; step *= 2) {
      const peer_id other = f.rank(f.folded ^ step);
      if (2 * step == f.n && !f.is_pair()) c.leave_background(data.size());
      co_await together(c, c.send(other, data), c.recv(other, theirs.all()));
      if (other < f.me)
        how(theirs.all(), data, data.data());
      else
        how(data, theirs.all(), data.data());
    }
    if (f.is_pair()) co_await unfold(c, f, data);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await c.end(std::move(failure));
}

/// Halves the data that a rank reduces in each step, until it has one block of the result; the same
/// steps backwards give all blocks to all. Near ranks exchange the large parts, so that of a host
/// with p ranks only a p-th of the data leaves for each rank.
task<void> all_reduce_rabenseifner(collective c, mutable_buffer data, const reduction& how) {
  const folding f(c);
  const division blocks(data.size(), how.element, f.n);
  const auto run = [&](peer_id from, peer_id count) {
    return data.subspan(blocks.begin(from), blocks.begin(from + count) - blocks.begin(from));
  };
  scratch theirs(f.is_pair() ? data.size() : run(0, f.n / 2).size());
  if (f.is_pair()) co_await fold(c, f, data, theirs.all(), how);
  peer_id begin = 0, count = f.n;  // the blocks that this rank still reduces
  for (peer_id step = 1; !f.idle && step < f.n; step *= 2) {
    const peer_id other = f.rank(f.folded ^ step);
    const bool upper = (f.folded & step) != 0;
    count /= 2;
    const mutable_buffer keep = run(begin + (upper ? count : 0), count);
    const mutable_buffer give = run(begin + (upper ? 0 : count), count);
    const mutable_buffer place = theirs.part(0, keep.size());
    co_await together(c, c.recv(other, place), c.send(other, give));
    how(keep, place, keep.data());
    if (upper) begin += count;
  }
  for (peer_id step = f.n / 2; !f.idle && step != 0; step /= 2) {
    const peer_id other = f.rank(f.folded ^ step);
    const bool upper = (f.folded & step) != 0;
    const mutable_buffer theirs_now = run(upper ? begin - count : begin + count, count);
    if (step == 1 && !f.is_pair()) c.leave_background(theirs_now.size());
    co_await together(c, c.send(other, run(begin, count)), c.recv(other, theirs_now));
    if (upper) begin -= count;
    count *= 2;
  }
  if (f.is_pair()) co_await unfold(c, f, data);
}

task<void> all_reduce_ring(collective c, mutable_buffer data, const reduction& how) {
  const peer_id me = c.rank(), n = c.size();
  const division blocks(data.size(), how.element, n);
  scratch theirs(blocks.size(0));
  const auto block = [&](peer_id k) { return data.subspan(blocks.begin(k), blocks.size(k)); };
  // At the end this rank has the sum of its own block.
  for (peer_id s = 1; s != n; ++s) {
    const peer_id out = (me + n - s) % n, in = (me + 2 * n - s - 1) % n;
    const mutable_buffer place = theirs.part(0, blocks.size(in));
    co_await together(c, c.recv(c.at(-1), place), c.send(c.at(1), block(out)));
    how(block(in), place, block(in).data());
  }
  co_await all_gather_ring(c, data, blocks);
}

}  // namespace weft::collectives

namespace weft {

using namespace collectives;

task<void> detail::all_reduce(communicator_ptr of, mutable_buffer data, reduction how) {
  const algorithm chosen = choose({kind::all_reduce, data.size(), how.commutative}, of->shape());
  const collective_call made{kind::all_reduce, chosen, 0, data.size(), how.name};
  switch (chosen) {
    case algorithm::rabenseifner:
      return run(std::move(of), made,
                 [=](const collective& c) { return all_reduce_rabenseifner(c, data, how); });
    case algorithm::ring:
      return run(std::move(of), made,
                 [=](const collective& c) { return all_reduce_ring(c, data, how); });
    default:
      return all_reduce_doubling(std::move(of), made, data, std::move(how));
  }
}

}  // namespace weft
