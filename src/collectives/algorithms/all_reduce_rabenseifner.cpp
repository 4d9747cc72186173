// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithms/data.hpp"
#include "collectives/algorithms/folding.hpp"

namespace weft::collectives {

/// Halves the data that a rank reduces in each step, until it has one block of the result; the same
/// steps backwards give all blocks to all. Near ranks exchange the large parts, so that of a host
/// with p ranks only a p-th of the data leaves for each rank.
task<void> all_reduce_rabenseifner(collective c, const arguments& with) {
  const mutable_buffer data = with.out;
  const reduction& how = with.how;
  const folding f(c);
  const division blocks(data.size(), how.element, f.n);
  const auto range = [&](peer_id from, peer_id count) {
    return data.subspan(blocks.begin(from), blocks.begin(from + count) - blocks.begin(from));
  };
  scratch theirs(f.is_pair() ? data.size() : range(0, f.n / 2).size());
  if (f.is_pair()) co_await fold(c, f, data, theirs.all(), how);
  peer_id begin = 0, count = f.n;  // the blocks that this rank still reduces
  for (peer_id step = 1; !f.idle && step < f.n; step *= 2) {
    const peer_id other = f.rank(f.folded ^ step);
    const bool upper = (f.folded & step) != 0;
    count /= 2;
    const mutable_buffer keep = range(begin + (upper ? count : 0), count);
    const mutable_buffer give = range(begin + (upper ? 0 : count), count);
    const mutable_buffer place = theirs.part(0, keep.size());
    co_await together(c, c.recv(other, place), c.send(other, give));
    how(keep, place, keep.data());
    if (upper) begin += count;
  }
  for (peer_id step = f.n / 2; !f.idle && step != 0; step /= 2) {
    const peer_id other = f.rank(f.folded ^ step);
    const bool upper = (f.folded & step) != 0;
    const mutable_buffer theirs_now = range(upper ? begin - count : begin + count, count);
    if (step == 1 && !f.is_pair()) c.leave_background(theirs_now.size());
    co_await together(c, c.send(other, range(begin, count)), c.recv(other, theirs_now));
    if (upper) begin -= count;
    count *= 2;
  }
  if (f.is_pair()) co_await unfold(c, f, data);
}

}  // namespace weft::collectives
