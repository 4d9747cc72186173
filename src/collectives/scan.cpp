// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithms.hpp"

namespace weft::collectives {

/// In step k a rank has the reduction of the 2^k ranks up to its own (Hillis, Steele 1986).
task<void> scan_doubling(collective c, mutable_buffer data, const reduction& how) {
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
    if (takes) how(theirs.all(), data, data.data());
  }
}

}  // namespace weft::collectives

namespace weft {

using namespace collectives;

task<void> detail::scan(communicator_ptr of, mutable_buffer data, reduction how) {
  const collective_call made{kind::scan, algorithm::recursive_doubling, 0, data.size(), how.name};
  return run(std::move(of), made, [=](const collective& c) { return scan_doubling(c, data, how); });
}

}  // namespace weft
