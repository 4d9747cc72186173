// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "collectives/algorithms/data.hpp"
#include "collectives/algorithms/folding.hpp"
#include "collectives/flags/steps.hpp"

namespace weft::collectives {

task<void> all_reduce_rabenseifner(collective c, const arguments& with);

namespace {

/// Exchanges with r xor 2^k. The way of short data: as `run` would do it, but in one coroutine,
/// because the frame of a second one costs a good part of a short message.
task<void> all_reduce_doubling(detail::communicator_ptr group, collective_call made,
                               mutable_buffer data, reduction how, std::uint64_t number) {
  const collective c = co_await begin(group, made, number);
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

/// The way into a power of two of ranks, and back.
double folded(const terms& t) {
  return std::has_single_bit(t.group.ranks) ? 0 : 2 * (t.a + t.m * t.b + t.m * t.c);
}

constexpr algorithm all_reduce_algorithms[] = {
    {"recursive_doubling",
     [](const terms& t) { return t.log_n * (t.a + t.m * t.b + t.m * t.c) + folded(t); },
     serves_always,
     [](detail::communicator_ptr&& of, const collective_call& made, arguments&& with) {
       return all_reduce_doubling(std::move(of), made, with.out, std::move(with.how), with.number);
     }},
    {"rabenseifner",
     [](const terms& t) {
       double halves = 0;  // of the data, a half of that, ...
       for (double k = 1; k <= t.log_n; ++k) halves += t.message(t.m / std::exp2(k));
       return 2 * halves + t.share * t.c + folded(t);
     },
     unfit_for_blocks, in_frame<all_reduce_rabenseifner>},
    {"ring", [](const terms& t) { return 2 * (t.n - 1) * t.message(t.m / t.n) + t.share * t.c; },
     unfit_for_blocks, in_frame<all_reduce_ring>},
    // Each rank reduces all operands.
    {"flags", [](const terms& t) { return t.flags() + t.m * t.f + (t.n - 1) * t.m * t.c; },
     unfit_for_flags, by_flags<all_reduce_by_flags>},
    // Each rank reduces a part of all operands.
    {"flags_parts",
     [](const terms& t) { return 2 * t.rounds(t.m) * t.flags() + 2 * t.m * t.f + t.share * t.c; },
     unfit_for_flags, by_flags<all_reduce_in_parts>}};

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
