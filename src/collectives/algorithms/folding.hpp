// SPDX-License-Identifier: Apache-2.0
// Reductions of a number of ranks that is no power of two.
#pragma once

#include <bit>

#include "collectives/collective.hpp"
#include "collectives/together.hpp"

namespace weft::collectives {

/// A number of ranks that is no power of two is folded: each of the first pairs of ranks becomes
/// one, whose even rank waits for the result meanwhile.
struct folding {
  explicit folding(const collective& c) noexcept
      : n(std::bit_floor(c.size())),
        extra(c.size() - n),
        me(c.rank()),
        idle(me < 2 * extra && me % 2 == 0),
        folded(folded_of(me)) {}
  peer_id rank(peer_id folded_rank) const noexcept {
    return folded_rank < extra ? 2 * folded_rank + 1 : folded_rank + extra;
  }
  peer_id folded_of(peer_id rank) const noexcept {
    return rank < 2 * extra ? rank / 2 : rank - extra;
  }
  bool is_pair() const noexcept { return me < 2 * extra; }
  peer_id n, extra, me;
  bool idle;
  peer_id folded;
};

/// The way into a power of two of ranks, and back.
inline double cost_of_folding(const terms& t) noexcept {
  return std::has_single_bit(t.group.ranks) ? 0 : 2 * (t.a + t.m * t.b + t.m * t.c);
}

inline task<void> fold(const collective& c, const folding& f, mutable_buffer data,
                       mutable_buffer theirs, const reduction& how) {
  if (!f.is_pair()) co_return;
  if (f.idle) {
    co_await together(c, c.send(f.me + 1, data));
  } else {
    co_await together(c, c.recv(f.me - 1, theirs));
    how(theirs, data, data.data());
  }
}

inline task<void> unfold(const collective& c, const folding& f, mutable_buffer data) {
  if (!f.is_pair()) co_return;
  if (f.idle) {
    c.leave_background(data.size());
    co_await together(c, c.recv(f.me + 1, data));
  } else {
    co_await together(c, c.send(f.me - 1, data));
  }
}

}  // namespace weft::collectives
