// SPDX-License-Identifier: Apache-2.0
// Reductions by halves of the data (Rabenseifner 2004).
#pragma once

#include "collectives/algorithms/data.hpp"
#include "collectives/algorithms/folding.hpp"

namespace weft::collectives {

/// `reduce`, then `spread` or `collect`.
inline double cost_of_halving(const terms& t) noexcept {
  return 2 * t.halves(t.m) + t.share * t.c + cost_of_folding(t);
}

/// Halves the data that a rank reduces in each step, until it has one block of the result; the same
/// steps backwards give all blocks to all, or to a root. Near ranks exchange the large parts, so
/// that of a host with p ranks only a p-th of the data leaves for each rank. Lives in the frame of
/// an algorithm.
class halving {
 public:
  /// \param data this rank's operand; its blocks become those of the result
  halving(const collective& c, mutable_buffer data, const reduction& how)
      : c_(c), f_(c), data_(data), how_(how), blocks_(data.size(), how.element, f_.n) {}

  /// Afterwards `block` has the operands of all.
  task<void> reduce();
  /// Whether this rank has a block: not, if another one has it for both.
  bool has_block() const noexcept { return !f_.idle; }
  mutable_buffer block() const noexcept { return range(begin_, count_); }
  /// All blocks to all.
  task<void> spread();
  /// All blocks to the root. Others' data is not of use any more.
  task<void> collect(peer_id root);

 private:
  mutable_buffer range(peer_id from, peer_id count) const noexcept {
    return data_.subspan(blocks_.begin(from), blocks_.begin(from + count) - blocks_.begin(from));
  }
  /// The blocks that the other rank of a step has, on the way back.
  mutable_buffer other_half(bool upper) const noexcept {
    return range(upper ? begin_ - count_ : begin_ + count_, count_);
  }
  void join(bool upper) noexcept {
    if (upper) begin_ -= count_;
    count_ *= 2;
  }

  const collective c_;
  const folding f_;
  const mutable_buffer data_;
  const reduction& how_;
  const division blocks_;
  peer_id begin_ = 0, count_ = f_.n;  // the blocks that this rank has, or still reduces
};

}  // namespace weft::collectives
