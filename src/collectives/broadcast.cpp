// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "collectives/algorithms.hpp"

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

}  // namespace

/// A rank receives from the rank without its lowest bit, and sends to those with a lower bit
/// instead, the farthest first: so a message crosses into each host once.
task<void> broadcast_binomial(collective c, mutable_buffer data, peer_id root) {
  const from_root v(c, root);
  peer_id span = v.span();
  const bool last = span == 1 || v.me + 1 == v.n;
  if (last) c.leave_background(data.size());
  if (v.me != 0) co_await together(c, c.recv(v.rank(v.me - span), data));
  for (span /= 2; span != 0; span /= 2)
    if (v.me + span < v.n) co_await together(c, c.send(v.rank(v.me + span), data));
}

/// Segment k comes in while segment k - 1 goes out.
task<void> broadcast_chain(collective c, mutable_buffer data, peer_id root) {
  const from_root v(c, root);
  const std::size_t size = chain_segment(data.size(), c.of().shape());
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

/// Block k belongs to the rank k after the root. In a binomial tree a rank has the blocks from its
/// own on, up to those of the next rank that its parent sends to.
task<void> broadcast_scatter_all_gather(collective c, mutable_buffer data, peer_id root) {
  const from_root v(c, root);
  const division blocks(data.size(), 1, v.n);
  const auto run = [&](peer_id from, peer_id to) {
    return data.subspan(blocks.begin(from), blocks.begin(to) - blocks.begin(from));
  };
  peer_id span = v.span();
  if (v.me != 0)
    co_await together(c, c.recv(v.rank(v.me - span), run(v.me, std::min(v.me + span, v.n))));
  for (span /= 2; span != 0; span /= 2)
    if (v.me + span < v.n)
      co_await together(
          c, c.send(v.rank(v.me + span), run(v.me + span, std::min(v.me + 2 * span, v.n))));
  for (peer_id step = 0; step + 1 < v.n; ++step) {
    const peer_id out = (v.me + v.n - step) % v.n, in = (v.me + v.n - step - 1) % v.n;
    co_await together(c, c.recv(v.rank(v.me + v.n - 1), run(in, in + 1)),
                      c.send(v.rank(v.me + 1), run(out, out + 1)));
  }
}

}  // namespace weft::collectives

namespace weft {

using namespace collectives;

task<void> detail::broadcast(communicator_ptr of, mutable_buffer data, peer_id root) {
  const algorithm how = choose({kind::broadcast, data.size()}, of->shape());
  return run(std::move(of), {kind::broadcast, how, root, data.size()}, [=](const collective& c) {
    switch (how) {
      case algorithm::chain:
        return broadcast_chain(c, data, root);
      case algorithm::scatter_all_gather:
        return broadcast_scatter_all_gather(c, data, root);
      default:
        return broadcast_binomial(c, data, root);
    }
  });
}

}  // namespace weft
