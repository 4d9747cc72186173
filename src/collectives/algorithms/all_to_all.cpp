// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include <weft/coro/scope.hpp>

#include "collectives/algorithms/data.hpp"
#include "collectives/algorithms/parts.hpp"
#include "collectives/flags/steps.hpp"

namespace weft::collectives {

namespace {

std::vector<std::size_t> begins(const std::vector<std::size_t>& parts) {
  std::vector<std::size_t> at(parts.size() + 1);
  for (std::size_t i = 0; i != parts.size(); ++i) at[i + 1] = at[i] + parts[i];
  return at;
}

/// In step k each rank passes on, over a distance of 2^k, the blocks whose way has that bit (Bruck
/// et al. 1997).
task<void> all_to_all_bruck(collective c, const arguments& with) {
  const const_buffer out = with.in;
  const mutable_buffer in = with.out;
  const peer_id me = c.rank(), n = c.size();
  const std::size_t block = out.size() / n;
  scratch memory(out.size()), leaving(out.size()), coming(out.size());
  const auto of = [&](peer_id k) { return memory.part(k * block, block); };
  for (peer_id k = 0; k != n; ++k) copy(out.subspan((me + k) % n * block, block), of(k));
  for (peer_id step = 1; step < n; step *= 2) {
    std::size_t bytes = 0;
    for (peer_id k = step; k < n; ++k)
      if ((k & step) != 0) copy(of(k), leaving.part(std::exchange(bytes, bytes + block), block));
    co_await together(c, c.recv(c.at(-std::int64_t{step}), coming.part(0, bytes)),
                      c.send(c.at(step), leaving.part(0, bytes)));
    bytes = 0;
    for (peer_id k = step; k < n; ++k)
      if ((k & step) != 0) copy(coming.part(std::exchange(bytes, bytes + block), block), of(k));
  }
  // Block k has come from the rank k before this one.
  for (peer_id k = 0; k != n; ++k) copy(of(k), in.subspan((me + n - k) % n * block, block));
}

constexpr peer_id radix = 8;

task<void> exchange(collective c, peer_id to, const_buffer out, peer_id from, mutable_buffer in) {
  co_await together(c, c.recv(from, in), c.send(to, out));
}

/// The same with digits of 8 in place of bits: more messages, which are under way at once, and
/// fewer bytes.
task<void> all_to_all_bruck_8(collective c, const arguments& with) {
  const peer_id me = c.rank(), n = c.size();
  const std::size_t block = with.in.size() / n;
  scratch memory(with.in.size()), leaving(with.in.size()), coming(with.in.size());
  const auto of = [&](peer_id k) { return memory.part(k * block, block); };
  for (peer_id k = 0; k != n; ++k) copy(with.in.subspan((me + k) % n * block, block), of(k));
  task_environment& here = co_await current_environment();
  for (std::uint64_t step = 1; step < n; step *= radix) {
    const auto for_each = [&](std::uint64_t digit, auto act) {
      for (std::uint64_t k = digit * step; k < n; ++k)
        if (k / step % radix == digit) act(static_cast<peer_id>(k));
    };
    scope exchanges(here);
    std::size_t bytes = 0;
    for (std::uint64_t digit = 1; digit != radix && digit * step < n; ++digit) {
      const std::size_t begin = bytes;
      for_each(digit, [&](peer_id k) {
        copy(of(k), leaving.part(std::exchange(bytes, bytes + block), block));
      });
      const auto far = static_cast<std::int64_t>(digit * step);
      exchanges.start(exchange(c, c.at(far), leaving.part(begin, bytes - begin), c.at(-far),
                               coming.part(begin, bytes - begin)));
    }
    co_await exchanges.join();
    bytes = 0;
    for (std::uint64_t digit = 1; digit != radix && digit * step < n; ++digit)
      for_each(digit, [&](peer_id k) {
        copy(coming.part(std::exchange(bytes, bytes + block), block), of(k));
      });
  }
  for (peer_id k = 0; k != n; ++k) copy(of(k), with.out.subspan((me + n - k) % n * block, block));
}

task<void> all_to_all_pairwise(collective c, const arguments& with) {
  const const_buffer out = with.in;
  const mutable_buffer in = with.out;
  const detail::byte_counts equal(with.parts ? 0 : c.size(), out.size() / c.size());
  const detail::byte_counts& out_parts = with.parts ? with.parts->in : equal;
  const detail::byte_counts& in_parts = with.parts ? with.parts->out : equal;
  const peer_id me = c.rank(), n = c.size();
  const std::vector<std::size_t> from = begins(out_parts), to = begins(in_parts);
  const auto outgoing = [&](peer_id r) { return out.subspan(from[r], out_parts[r]); };
  const auto incoming = [&](peer_id r) { return in.subspan(to[r], in_parts[r]); };
  if (out_parts[me] != in_parts[me])
    throw error(errc::invalid_argument,
                fmt::format("rank {} has {} bytes for itself in all_to_all, and expects {}", me,
                            out_parts[me], in_parts[me]));
  copy(outgoing(me), incoming(me));
  for (peer_id d = 1; d != n; ++d) {
    const peer_id next = c.at(d), last = c.at(-std::int64_t{d});
    co_await together(c, c.recv(last, incoming(last)), c.send(next, outgoing(next)));
  }
}

/// To the member of this host that is in the slice of the receiver; then in each slice.
task<void> all_to_all_levels(collective c, const arguments& with) {
  const std::size_t block = with.in.size() / c.size();
  const peer_id hosts = c.shape().hosts(), places = c.shape().per_host;
  scratch leaving(with.in.size()), coming(with.in.size());
  for (peer_id place = 0; place != places; ++place)
    for (peer_id host = 0; host != hosts; ++host)
      copy(with.in.subspan((host * places + place) * block, block),
           leaving.part((place * hosts + host) * block, block));
  const arguments inside{.in = leaving.all(), .out = coming.all()};
  part_of_collective first(c.in_host(collective::turn::before_others), kind::all_to_all,
                           hosts * block, inside);
  co_await first.perform();
  for (peer_id place = 0; place != places; ++place)
    for (peer_id host = 0; host != hosts; ++host)
      copy(coming.part((place * hosts + host) * block, block),
           leaving.part((host * places + place) * block, block));
  const arguments between{.in = leaving.all(), .out = with.out};
  part_of_collective last(c.in_slice(collective::turn::last), kind::all_to_all, places * block,
                          between);
  co_await last.perform();
}

const char* unfit_for_bruck(const collective_size& c, const group_shape& g) {
  return g.ranks < 3 ? "fewer than 3 ranks" : unfit_for_parts(c, g);
}

constexpr algorithm all_to_all_algorithms[] = {
    // n - 1 exchanges, each with another rank.
    {"pairwise", [](const terms& t) { return (t.n - 1) * (t.a + t.m * t.b * t.crowd); },
     serves_always, in_frame<all_to_all_pairwise>, all_to_all_pairwise},
    // log2 n steps with half of the data.
    {"bruck", [](const terms& t) { return t.exchanges(t.n / 2 * t.m * 2); }, unfit_for_bruck,
     in_frame<all_to_all_bruck>, all_to_all_bruck},
    {"flags",
     [](const terms& t) { return t.rounds(t.n * t.m) * t.flags() + (t.n - 1) * t.m * t.f; },
     unfit_for_flags, by_flags<all_to_all_by_flags>, nullptr, &all_to_all_by_flags},
    {"levels",
     [](const terms& t) {
       const cost_of_levels of(t);
       return of.in_host(kind::all_to_all, of.h() * t.m) +
              of.in_slice(kind::all_to_all, of.p() * t.m) + 2 * t.n * t.m * t.f;
     },
     unfit_for_levels, in_frame<all_to_all_levels>},
    // log8 n steps with 7/8 of the data in up to 7 messages.
    {"bruck_8",
     [](const terms& t) {
       const double steps = std::ceil(t.log_n / 3), messages = std::min(radix - 1.0, t.n - 1);
       return steps * (t.a + (messages - 1) * t.a / 3 + 7 * t.n / 8 * t.m * t.b * t.crowd * 1.5);
     },
     unfit_for_bruck, in_frame<all_to_all_bruck_8>, all_to_all_bruck_8}};

}  // namespace

constinit const collective_table all_to_all_table{"all_to_all", {}, all_to_all_algorithms};

}  // namespace weft::collectives

namespace weft {

using namespace collectives;

task<void> detail::all_to_all(communicator_ptr of, const_buffer out, mutable_buffer in) {
  check_apart(kind::all_to_all, out, in);
  const std::size_t block = out.size() / of->size();
  return perform(all_to_all_algorithms, std::move(of), {kind::all_to_all, block},
                 {.in = out, .out = in});
}

task<void> detail::all_to_all(communicator_ptr of, const_buffer out, byte_counts out_parts,
                              mutable_buffer in, byte_counts in_parts) {
  check_apart(kind::all_to_all, out, in);
  return perform(
      all_to_all_algorithms, std::move(of), {kind::all_to_all, of_parts},
      {.in = out, .out = in, .parts = sizes_of(std::move(out_parts), std::move(in_parts))});
}

}  // namespace weft
