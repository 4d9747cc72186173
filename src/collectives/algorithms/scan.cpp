// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithms/data.hpp"
#include "collectives/flags/steps.hpp"

namespace weft::collectives {

namespace {

/// In step k a rank has the reduction of the 2^k ranks up to its own (Hillis, Steele 1986).
task<void> scan_doubling(collective c, const arguments& with) {
  const mutable_buffer data = with.out;
  const peer_id me = c.rank(), n = c.size();
  scratch theirs(data.size());
  for (std::uint64_t d = 1; d < n; d *= 2) {
    const bool gives = me + d < n, takes = me >= d;
    const auto to = static_cast<peer_id>(me + d), from = static_cast<peer_id>(me - d);
    if (gives && takes)
      co_await together(c, c.recv(from, theirs.all()), c.send(to, data));
    else if (gives)
      co_await together(c, c.send(to, data));
    else if (takes)
      co_await together(c, c.recv(from, theirs.all()));
    if (takes) with.how(theirs.all(), data, data.data());
  }
}

constexpr algorithm scan_algorithms[] = {
    {"recursive_doubling", [](const terms& t) { return t.exchanges(t.m) + t.log_n * t.m * t.c; },
     serves_always, in_frame<scan_doubling>, scan_doubling},
    {"flags",
     [](const terms& t) { return t.rounds(t.m) * t.flags() + t.m * t.f + t.n * t.m * t.c; },
     unfit_for_flags, by_flags<scan_by_flags>}};

}  // namespace

constinit const collective_table scan_table{"scan", {}, scan_algorithms};

}  // namespace weft::collectives

namespace weft {

using namespace collectives;

task<void> detail::scan(communicator_ptr of, mutable_buffer data, reduction how) {
  const collective_size size{kind::scan, data.size(), how.commutative, how.element};
  const std::uint16_t name = how.name;
  return perform(scan_algorithms, std::move(of), size, {.out = data, .how = std::move(how)}, name);
}

}  // namespace weft
