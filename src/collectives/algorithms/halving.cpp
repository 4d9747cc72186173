// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithms/halving.hpp"

namespace weft::collectives {

task<void> halving::reduce() {
  scratch theirs(f_.is_pair() ? data_.size() : range(0, f_.n / 2).size());
  if (f_.is_pair()) co_await fold(c_, f_, data_, theirs.all(), how_);
  for (peer_id step = 1; !f_.idle && step < f_.n; step *= 2) {
    const peer_id other = f_.rank(f_.folded ^ step);
    const bool upper = (f_.folded & step) != 0;
    count_ /= 2;
    const mutable_buffer keep = range(begin_ + (upper ? count_ : 0), count_);
    const mutable_buffer give = range(begin_ + (upper ? 0 : count_), count_);
    const mutable_buffer place = theirs.part(0, keep.size());
    co_await together(c_, c_.recv(other, place), c_.send(other, give));
    how_(keep, place, keep.data());
    if (upper) begin_ += count_;
  }
}

task<void> halving::spread() {
  for (peer_id step = f_.n / 2; !f_.idle && step != 0; step /= 2) {
    const peer_id other = f_.rank(f_.folded ^ step);
    const bool upper = (f_.folded & step) != 0;
    const mutable_buffer theirs = other_half(upper);
    if (step == 1 && !f_.is_pair()) c_.leave_background(theirs.size());
    co_await together(c_, c_.send(other, block()), c_.recv(other, theirs));
    join(upper);
  }
  if (f_.is_pair()) co_await unfold(c_, f_, data_);
}

task<void> halving::collect(peer_id root) {
  const peer_id to = f_.folded_of(root);
  for (peer_id step = f_.n / 2; !f_.idle && step != 0; step /= 2) {
    const peer_id other = f_.rank(f_.folded ^ step);
    const bool upper = (f_.folded & step) != 0;
    if (((f_.folded ^ to) & step) != 0) {
      co_await together(c_, c_.send(other, block()));
      co_return;
    }
    co_await together(c_, c_.recv(other, other_half(upper)));
    join(upper);
  }
  // The root may have been idle.
  if (root == f_.rank(to)) co_return;
  if (c_.rank() == f_.rank(to)) co_await together(c_, c_.send(root, data_));
  if (c_.rank() == root) co_await together(c_, c_.recv(f_.rank(to), data_));
}

}  // namespace weft::collectives
