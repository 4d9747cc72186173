// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithms/data.hpp"
#include "collectives/algorithms/parts.hpp"
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

/// In each slice, so that every block enters a host once; then in each host what its slices have.
task<void> all_gather_levels(collective c, const arguments& with) {
  const std::size_t block = with.in.size();
  const peer_id hosts = c.shape().hosts(), places = c.shape().per_host;
  scratch of_slice(hosts * block), of_all(c.size() * block);
  const arguments between{.in = with.in, .out = of_slice.all()};
  const arguments inside{.in = of_slice.all(), .out = of_all.all()};
  part_of_collective first(c.in_slice(collective::turn::before_others), kind::all_gather, block,
                           between);
  part_of_collective last(c.in_host(collective::turn::last), kind::all_gather, hosts * block,
                          inside);
  co_await first.perform();
  co_await last.perform();
  for (peer_id place = 0; place != places; ++place)
    for (peer_id host = 0; host != hosts; ++host)
      copy(of_all.part((place * hosts + host) * block, block),
           with.out.subspan((host * places + place) * block, block));
}

constexpr algorithm all_gather_algorithms[] = {
    // Ranks of a host share its port only with far steps, which have nearly all bytes.
    {"bruck", [](const terms& t) { return t.tree(0) + (t.n - 1) * t.m * t.b * t.crowd * 1.5; },
     serves_always, in_frame<all_gather_bruck>, all_gather_bruck},
    {"ring", [](const terms& t) { return (t.n - 1) * (t.a + t.m * t.b); }, serves_always,
     in_frame<all_gather_ring>, all_gather_ring},
    {"flags", [](const terms& t) { return t.rounds(t.m) * t.flags() + (t.n - 1) * t.m * t.f; },
     unfit_for_flags, by_flags<all_gather_by_flags>, nullptr, &all_gather_by_flags},
    {"levels",
     [](const terms& t) {
       const cost_of_levels of(t);
       return of.in_slice(kind::all_gather, t.m) + of.in_host(kind::all_gather, of.h() * t.m) +
              t.n * t.m * t.f;
     },
     unfit_for_levels, in_frame<all_gather_levels>}};

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
