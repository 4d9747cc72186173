// SPDX-License-Identifier: Apache-2.0
#include "transports/channel/channel.hpp"

#include <fmt/format.h>

#include <utility>

#include "transports/channel/basic.hpp"
#include "transports/channel/zero_copy.hpp"

namespace weft::transports::channel {

void check(const settings& s) {
  constexpr std::size_t least_chunk = 128, most_ring = std::size_t{1} << 30;
  if (s.chunk < least_chunk || s.chunk % alignof(trailer) != 0 || s.ring < 2 * s.chunk ||
      s.ring > most_ring || s.ring % s.chunk != 0)
    throw error(errc::invalid_argument,
                fmt::format("RDMA channel: a ring of {} bytes cannot be cut into chunks of {}; a "
                            "chunk is a multiple of 8 from {} on, a ring two or more of them, up "
                            "to 1 GiB",
                            s.ring, s.chunk, least_chunk));
  if (s.step > rung::written)
    throw error(errc::invalid_argument,
                fmt::format("RDMA channel: there is no rung {}", static_cast<int>(s.step)));
}

std::unique_ptr<rdma_channel> make(std::unique_ptr<line> on, const settings& s) {
  switch (s.step) {
    case rung::basic:
      return std::make_unique<basic_channel>(std::move(on));
    case rung::piggyback:
    case rung::pipelined:
      return std::make_unique<chunked_channel>(std::move(on), s);
    case rung::read:
    case rung::written:
      break;
  }
  return std::make_unique<zero_copy_channel>(std::move(on), s);
}

}  // namespace weft::transports::channel
