// SPDX-License-Identifier: Apache-2.0
// gather and scatter.
#include <bit>
#include <numeric>

#include <weft/coro/scope.hpp>

#include "collectives/algorithms.hpp"

namespace weft::collectives {

namespace {

/// The binomial tree of ranks counted from the root: a rank has the blocks of `span` ranks from its
/// own on, or of fewer at the end.
struct tree {
  tree(const collective& c, peer_id root) noexcept
      : n(c.size()),
        first(root),
        me((c.rank() + n - root) % n),
        span(me == 0 ? std::bit_ceil(n) : me & (~me + 1)) {}
  peer_id rank(peer_id relative) const noexcept { return (relative + first) % n; }
  peer_id below(peer_id relative, peer_id s) const noexcept { return std::min(s, n - relative); }
  peer_id n, first, me, span;
};

/// Blocks in the order of ranks from the root become blocks in the order of ranks, or back.
template <class Copy>
void rotate_blocks(const tree& t, std::size_t block, Copy copy_block) {
  for (peer_id k = 0; k != t.n; ++k) copy_block(k * block, t.rank(k) * block);
}

}  // namespace

task<void> gather_binomial(collective c, const_buffer mine, mutable_buffer all, peer_id root) {
  const tree t(c, root);
  const std::size_t block = mine.size();
  scratch memory(t.below(t.me, t.span) * block);
  copy(mine, memory.part(0, block));
  for (peer_id step = 1; step < t.span && t.me + step < t.n; step *= 2)
    co_await together(c, c.recv(t.rank(t.me + step),
                                memory.part(step * block, t.below(t.me + step, step) * block)));
  if (t.me != 0) {
    co_await together(c, c.send(t.rank(t.me - t.span), memory.all()));
    co_return;
  }
  rotate_blocks(t, block, [&](std::size_t from, std::size_t to) {
    copy(memory.part(from, block), all.subspan(to, block));
  });
}

task<void> scatter_binomial(collective c, const_buffer all, mutable_buffer mine, peer_id root) {
  const tree t(c, root);
  const std::size_t block = mine.size();
  scratch memory(t.below(t.me, t.span) * block);
  if (t.me == 0)
    rotate_blocks(t, block, [&](std::size_t to, std::size_t from) {
      copy(all.subspan(from, block), memory.part(to, block));
    });
  else
    co_await together(c, c.recv(t.rank(t.me - t.span), memory.all()));
  for (peer_id step = t.span / 2; step != 0; step /= 2)
    if (t.me + step < t.n)
      co_await together(c, c.send(t.rank(t.me + step),
                                  memory.part(step * block, t.below(t.me + step, step) * block)));
  copy(memory.part(0, block), mine);
}

namespace {

task<void> take_part(collective c, peer_id from, mutable_buffer place) {
  co_await together(c, c.recv(from, place));
}

}  // namespace

task<void> gather_linear(collective c, const_buffer mine, mutable_buffer all,
                         detail::byte_counts parts, peer_id root) {
  if (c.rank() != root) {
    co_await together(c, c.send(root, mine));
    co_return;
  }
  task_environment& here = co_await current_environment();
  scope receives(here);
  std::size_t at = 0;
  for (peer_id r = 0; r != c.size(); at += parts[r++]) {
    const mutable_buffer place = all.subspan(at, parts[r]);
    if (r == root)
      copy(mine, place);
    else
      receives.start(take_part(c, r, place));
  }
  co_await receives.join();
}

task<void> scatter_linear(collective c, const_buffer all, detail::byte_counts parts,
                          mutable_buffer mine, peer_id root) {
  if (c.rank() != root) {
    co_await together(c, c.recv(root, mine));
    co_return;
  }
  task_environment& here = co_await current_environment();
  scope sends(here);
  std::size_t from = 0;
  for (peer_id r = 0; r != c.size(); ++r) {
    const const_buffer part = all.subspan(from, parts[r]);
    from += parts[r];
    if (r == root)
      copy(part, mine);
    else
      sends.start(c.send(r, part));
  }
  co_await sends.join();
}

}  // namespace weft::collectives

namespace weft {

using namespace collectives;

namespace {

/// The own part of a member among all.
const std::byte* place_of(const std::byte* all, const detail::byte_counts& parts, peer_id rank) {
  return all + std::accumulate(parts.begin(), parts.begin() + rank, std::size_t{0});
}

}  // namespace

task<void> detail::gather(communicator_ptr of, const_buffer mine, mutable_buffer all,
                          peer_id root) {
  if (of->rank() == root) check_apart(kind::gather, mine, all, all.data() + root * mine.size());
  const algorithm how = choose({kind::gather, mine.size()}, of->shape());
  return run(std::move(of), {kind::gather, how, root, mine.size()}, [=](const collective& c) {
    if (how == algorithm::binomial) return gather_binomial(c, mine, all, root);
    return gather_linear(c, mine, all, std::vector<std::size_t>(c.size(), mine.size()), root);
  });
}

task<void> detail::gather(communicator_ptr of, const_buffer mine, mutable_buffer all,
                          byte_counts parts, peer_id root) {
  if (of->rank() == root) check_apart(kind::gather, mine, all, place_of(all.data(), parts, root));
  return run(std::move(of), {kind::gather, algorithm::linear, root, of_parts},
             [=](const collective& c) { return gather_linear(c, mine, all, parts, root); });
}

task<void> detail::scatter(communicator_ptr of, const_buffer all, mutable_buffer mine,
                           peer_id root) {
  if (of->rank() == root) check_apart(kind::scatter, mine, all, all.data() + root * mine.size());
  const algorithm how = choose({kind::scatter, mine.size()}, of->shape());
  return run(std::move(of), {kind::scatter, how, root, mine.size()}, [=](const collective& c) {
    if (how == algorithm::binomial) return scatter_binomial(c, all, mine, root);
    return scatter_linear(c, all, std::vector<std::size_t>(c.size(), mine.size()), mine, root);
  });
}

task<void> detail::scatter(communicator_ptr of, const_buffer all, byte_counts parts,
                           mutable_buffer mine, peer_id root) {
  if (of->rank() == root) check_apart(kind::scatter, mine, all, place_of(all.data(), parts, root));
  return run(std::move(of), {kind::scatter, algorithm::linear, root, of_parts},
             [=](const collective& c) { return scatter_linear(c, all, parts, mine, root); });
}

}  // namespace weft
