// SPDX-License-Identifier: Apache-2.0
// gather and scatter.
#include <bit>
#include <numeric>

#include <weft/coro/scope.hpp>

#include "collectives/algorithms/parts.hpp"
#include "collectives/flags/steps.hpp"

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

task<void> gather_binomial(collective c, const arguments& with) {
  const tree t(c, with.root);
  const const_buffer mine = with.in;
  const mutable_buffer all = with.out;
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

task<void> scatter_binomial(collective c, const arguments& with) {
  const tree t(c, with.root);
  const const_buffer all = with.in;
  const mutable_buffer mine = with.out;
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

task<void> take_part(collective c, peer_id from, mutable_buffer place) {
  co_await together(c, c.recv(from, place));
}

task<void> gather_linear(collective c, const arguments& with) {
  if (c.rank() != with.root) {
    co_await together(c, c.send(with.root, with.in));
    co_return;
  }
  task_environment& here = co_await current_environment();
  scope receives(here);
  std::size_t at = 0;
  for (peer_id r = 0; r != c.size(); ++r) {
    const std::size_t size = with.parts ? with.parts->out[r] : with.in.size();
    const mutable_buffer place = with.out.subspan(at, size);
    at += size;
    if (r == with.root)
      copy(with.in, place);
    else
      receives.start(take_part(c, r, place));
  }
  co_await receives.join();
}

task<void> scatter_linear(collective c, const arguments& with) {
  if (c.rank() != with.root) {
    co_await together(c, c.recv(with.root, with.out));
    co_return;
  }
  task_environment& here = co_await current_environment();
  scope sends(here);
  std::size_t from = 0;
  for (peer_id r = 0; r != c.size(); ++r) {
    const std::size_t size = with.parts ? with.parts->in[r] : with.out.size();
    const const_buffer part = with.in.subspan(from, size);
    from += size;
    if (r == with.root)
      copy(part, with.out);
    else
      sends.start(c.send(r, part));
  }
  co_await sends.join();
}

/// In each host to the member of the root's slice; then in that slice.
task<void> gather_levels(collective c, const arguments& with) {
  const peer_id places = c.shape().per_host, place = with.root % places;
  const std::size_t of_host = places * with.in.size(), host = c.rank() / places;
  const bool in_slice = c.rank() % places == place, is_root = c.rank() == with.root;
  scratch memory(in_slice && !is_root ? of_host : 0);
  const mutable_buffer mine = is_root ? with.out.subspan(host * of_host, of_host) : memory.all();
  const arguments inside{.in = with.in, .out = mine, .root = place};
  part_of_collective first(c.in_host(collective::turn::before_others), kind::gather, with.in.size(),
                           inside);
  co_await first.perform();
  if (!in_slice) co_return;
  const arguments between{.in = mine, .out = with.out, .root = with.root / places};
  part_of_collective last(c.in_slice(collective::turn::last, false), kind::gather, of_host,
                          between);
  co_await last.perform();
}

task<void> scatter_levels(collective c, const arguments& with) {
  const peer_id places = c.shape().per_host, place = with.root % places;
  const std::size_t of_host = places * with.out.size();
  const bool in_slice = c.rank() % places == place;
  scratch memory(in_slice ? of_host : 0);
  const arguments between{.in = with.in, .out = memory.all(), .root = with.root / places};
  const arguments inside{.in = memory.all(), .out = with.out, .root = place};
  part_of_collective first(c.in_slice(collective::turn::before_others, false), kind::scatter,
                           of_host, between);
  part_of_collective last(c.in_host(collective::turn::last), kind::scatter, with.out.size(),
                          inside);
  if (in_slice) co_await first.perform();
  co_await last.perform();
}

double of_tree(const terms& t) { return t.tree(0) + (t.n - 1) * t.m * t.b * 1.5; }
double of_flags(const terms& t) { return t.rounds(t.m) * t.flags() + (t.n - 1) * t.m * t.f; }
double of_root(const terms& t) { return (t.n - 1) * (t.a / 4 + t.m * t.b) + t.a; }
double of_gather_levels(const terms& t) {
  const cost_of_levels of(t);
  return of.in_host(kind::gather, t.m) + of.in_slice(kind::gather, of.p() * t.m, false);
}
double of_scatter_levels(const terms& t) {
  const cost_of_levels of(t);
  return of.in_host(kind::scatter, t.m) + of.in_slice(kind::scatter, of.p() * t.m, false);
}

// Linear: the root with every rank at once. First, as it serves parts of different sizes, too.
constexpr algorithm gather_algorithms[] = {
    {"linear", of_root, serves_always, in_frame<gather_linear>, gather_linear},
    {"binomial", of_tree, unfit_for_parts, in_frame<gather_binomial>, gather_binomial},
    {"flags", of_flags, unfit_for_flags, by_flags<gather_by_flags>, nullptr, &gather_by_flags},
    {"levels", of_gather_levels, unfit_for_levels, in_frame<gather_levels>}};
constexpr algorithm scatter_algorithms[] = {
    {"linear", of_root, serves_always, in_frame<scatter_linear>, scatter_linear},
    {"binomial", of_tree, unfit_for_parts, in_frame<scatter_binomial>, scatter_binomial},
    {"flags", of_flags, unfit_for_flags, by_flags<scatter_by_flags>, nullptr, &scatter_by_flags},
    {"levels", of_scatter_levels, unfit_for_levels, in_frame<scatter_levels>}};

}  // namespace

constinit const collective_table gather_table{"gather", "to", gather_algorithms};
constinit const collective_table scatter_table{"scatter", "from", scatter_algorithms};

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
  return perform(gather_algorithms, std::move(of), {kind::gather, mine.size()},
                 {.in = mine, .out = all, .root = root});
}

task<void> detail::gather(communicator_ptr of, const_buffer mine, mutable_buffer all,
                          byte_counts parts, peer_id root) {
  if (of->rank() == root) check_apart(kind::gather, mine, all, place_of(all.data(), parts, root));
  return perform(gather_algorithms, std::move(of), {kind::gather, of_parts},
                 {.in = mine, .out = all, .root = root, .parts = sizes_of({}, std::move(parts))});
}

task<void> detail::scatter(communicator_ptr of, const_buffer all, mutable_buffer mine,
                           peer_id root) {
  if (of->rank() == root) check_apart(kind::scatter, mine, all, all.data() + root * mine.size());
  return perform(scatter_algorithms, std::move(of), {kind::scatter, mine.size()},
                 {.in = all, .out = mine, .root = root});
}

task<void> detail::scatter(communicator_ptr of, const_buffer all, byte_counts parts,
                           mutable_buffer mine, peer_id root) {
  if (of->rank() == root) check_apart(kind::scatter, mine, all, place_of(all.data(), parts, root));
  return perform(scatter_algorithms, std::move(of), {kind::scatter, of_parts},
                 {.in = all, .out = mine, .root = root, .parts = sizes_of(std::move(parts), {})});
}

}  // namespace weft
