// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/ladder/pipe.hpp"

#include <fmt/format.h>

#include "transports/verbs/ladder/basic.hpp"
#include "transports/verbs/ladder/zero_copy.hpp"

namespace weft::transports::verbs::ladder {

std::unique_ptr<pipe> open(device& on, const settings& s) {
  constexpr std::size_t least_chunk = 128, most_ring = std::size_t{1} << 30;
  if (s.chunk < least_chunk || s.chunk % alignof(trailer) != 0 || s.ring < 2 * s.chunk ||
      s.ring > most_ring || s.ring % s.chunk != 0)
    throw error(errc::invalid_argument,
                fmt::format("RDMA pipe: a ring of {} bytes cannot be cut into chunks of {}; a "
                            "chunk is a multiple of 8 from {} on, a ring two or more of them, up "
                            "to 1 GiB",
                            s.ring, s.chunk, least_chunk));
  switch (s.step) {
    case rung::basic:
      return std::make_unique<basic_pipe>(on, s);
    case rung::piggyback:
    case rung::pipelined:
      return std::make_unique<chunked_pipe>(on, s);
    case rung::read:
    case rung::written:
      break;
  }
  return std::make_unique<zero_copy_pipe>(on, s);
}

}  // namespace weft::transports::verbs::ladder
