// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithms/data.hpp"
#include "collectives/flags/steps.hpp"

namespace weft::collectives {

task<void> pass_around(collective c, mutable_buffer all, division blocks) {
  const peer_id me = c.rank(), n = c.size();
  const auto block = [&](peer_id k) { return all.subspan(blocks.begin(k), blocks.size(k)); };
  for (peer_id s = 0; s + 1 < n; ++s)
    co_await together(c, c.recv(c.at(-1), block((me + 2 * n - s - 1) % n)),
                      c.send(c.at(1), block((me + n - s) % n)));
}

namespace {

/// In step k a rank gets the blocks of the 2^k ranks after those that it has (Bruck et al. 1997).
task<void> all_gather_bruck(collective c, const arguments& with) {
  const const_buffer mine = with.in;
  const mutable_buffer all = with.out;
  const peer_id me = c.rank(), n = c.size();
  const std::size_t block = mine.size();
  scratch memory(n * block);  // block k is that of rank me + k
  copy(mine, memory.part(0, block));
  for (peer_id have = 1; have < n; have *= 2) {
    const std::size_t bytes = std::min(have, n - have) * block;
    co_await together(c, c.recv(c.at(have), memory.part(have * block, bytes)),
                      c.send(c.at(-std::int64_t{have}), memory.part(0, bytes)));
  }
  for (peer_id k = 0; k != n; ++k)
    copy(memory.part(k * block, block), all.subspan((me + k) % n * block, block));
}

task<void> all_gather_ring(collective c, const arguments& with) {
  const std::size_t block = with.in.size();
  copy(with.in, with.out.subspan(c.rank() * block, block));
  return pass_around(c, with.out, division(with.out.size(), block, c.size()));
}

constexpr algorithm all_gather_algorithms[] = {
    {"bruck", [](const terms& t) { return t.log_n * t.a + (t.n - 1) * t.m * t.b * 1.5; },
     serves_always, in_frame<all_gather_bruck>},
    {"ring", [](const terms& t) { return (t.n - 1) * (t.a + t.m * t.b); }, serves_always,
     in_frame<all_gather_ring>},
    {"flags", [](const terms& t) { return t.rounds(t.m) * t.flags() + (t.n + 1) * t.m * t.f; },
     unfit_for_flags, by_flags<all_gather_by_flags>}};

}  // namespace

constinit const collective_table all_gather_table{"all_gather", {}, all_gather_algorithms};

}  // namespace weft::collectives

namespace weft {

using namespace collectives;

task<void> detail::all_gather(communicator_ptr of, const_buffer mine, mutable_buffer all,
                              std::uint16_t operation) {
  check_apart(kind::all_gather, mine, all, all.data() + of->rank() * mine.size());
  return perform(all_gather_algorithms, std::move(of), {kind::all_gather, mine.size()},
                 {.in = mine, .out = all}, operation);
}

}  // namespace weft
