// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "collectives/algorithms/data.hpp"
#include "collectives/algorithms/folding.hpp"
#include "collectives/algorithms/halving.hpp"
#include "collectives/algorithms/parts.hpp"
#include "collectives/flags/steps.hpp"

namespace weft::collectives {

namespace {

/// Exchanges with r xor 2^k. The way of short data: as `run` would do it, but in one coroutine,
/// because the frame of a second one costs a good part of a short message.
/// \param part of a collective that has begun; null: all of it
task<void> all_reduce_doubling(detail::communicator_ptr group, collective_call made,
                               mutable_buffer data, reduction how, std::uint64_t number,
                               const collective* part = nullptr) {
  std::optional<collective> whole;
  if (!part) whole.emplace(co_await begin(group, made, number));
  const collective& c = part ? *part : *whole;
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
  if (!part)
    co_await c.end(std::move(failure));
  else if (failure)
    std::rethrow_exception(failure);
}
task<void> all_reduce_doubling_part(collective c, const arguments& with) {
  co_await all_reduce_doubling({}, {}, with.out, with.how, 0, &c);
}

task<void> all_reduce_rabenseifner(collective c, const arguments& with) {
  halving all(c, with.out, with.how);
  co_await all.reduce();
  co_await all.spread();
}

task<void> all_reduce_ring(collective c, const arguments& with) {
  const mutable_buffer data = with.out;
  const reduction& how = with.how;
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
  co_await pass_around(c, data, blocks);
}

/// In each host, then in each slice: with the fewest steps.
task<void> all_reduce_levels(collective c, const arguments& with) {
  const std::size_t bytes = with.out.size();
  part_of_collective first(c.in_host(collective::turn::before_others), kind::all_reduce, bytes,
                           with);
  part_of_collective last(c.in_slice(collective::turn::last), kind::all_reduce, bytes, with);
  co_await first.perform();
  co_await last.perform();
}

/// Each slice has a block of what its hosts have reduced.
task<void> all_reduce_levels_parts(collective c, const arguments& with) {
  halving of_host(c.in_host(collective::turn::last), with.out, with.how);
  co_await of_host.reduce();
  if (of_host.has_block()) {
    const arguments block{.out = of_host.block(), .how = with.how};
    part_of_collective between(c.in_slice(collective::turn::before_others), kind::all_reduce,
                               block.out.size(), block);
    co_await between.perform();
  }
  co_await of_host.spread();
}

constexpr algorithm all_reduce_algorithms[] = {
    {"recursive_doubling",
     [](const terms& t) { return t.exchanges(t.m) + t.log_n * t.m * t.c + cost_of_folding(t); },
     serves_always,
     [](detail::communicator_ptr&& of, const collective_call& made, arguments&& with) {
       return all_reduce_doubling(std::move(of), made, with.out, std::move(with.how), with.number);
     },
     all_reduce_doubling_part},
    {"rabenseifner", cost_of_halving, unfit_for_blocks, in_frame<all_reduce_rabenseifner>,
     all_reduce_rabenseifner},
    {"ring", [](const terms& t) { return 2 * (t.n - 1) * t.message(t.m / t.n) + t.share * t.c; },
     unfit_for_blocks, in_frame<all_reduce_ring>, all_reduce_ring},
    // Each rank reduces all operands.
    {"flags", [](const terms& t) { return t.flags() + t.m * t.f + (t.n - 1) * t.m * t.c; },
     unfit_for_flags, by_flags<all_reduce_by_flags>, nullptr, &all_reduce_by_flags},
    // Each rank reduces a part of all operands.
    {"flags_parts",
     [](const terms& t) { return 2 * t.rounds(t.m) * t.flags() + 2 * t.m * t.f + t.share * t.c; },
     unfit_for_flags, by_flags<all_reduce_in_parts>, nullptr, &all_reduce_in_parts},
    {"levels",
     [](const terms& t) {
       const cost_of_levels of(t);
       return of.in_host(kind::all_reduce, t.m) + of.in_slice(kind::all_reduce, t.m);
     },
     unfit_for_levels, in_frame<all_reduce_levels>},
    {"levels_parts",
     [](const terms& t) {
       const cost_of_levels of(t);
       return cost_of_halving(of.of_host()) + of.in_slice(kind::all_reduce, t.m / of.p());
     },
     unfit_for_reduced_shares, in_frame<all_reduce_levels_parts>}};

}  // namespace

constinit const collective_table all_reduce_table{"all_reduce", {}, all_reduce_algorithms};

}  // namespace weft::collectives

namespace weft {

using namespace collectives;

task<void> detail::all_reduce(communicator_ptr of, mutable_buffer data, reduction how) {
  const collective_size size{kind::all_reduce, data.size(), how.commutative, how.element};
  const std::uint16_t name = how.name;
  return perform(all_reduce_algorithms, std::move(of), size,
                 {.in = data, .out = data, .how = std::move(how)}, name);
}

}  // namespace weft
