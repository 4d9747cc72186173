// SPDX-License-Identifier: Apache-2.0
#include <weft/rdma_channel.hpp>

#include <fmt/format.h>

#include "transports/channel/channel.hpp"
#include "transports/channel/memory_line.hpp"
#include "transports/verbs/channel/open.hpp"

namespace weft {

std::unique_ptr<rdma_channel> rdma_channel::open(const settings& s) {
  if (s.transport == "verbs") return transports::verbs::channel::open(s);
  if (s.transport != "shm")
    throw error(errc::invalid_argument,
                fmt::format("RDMA channel: there is none over {}; shm and verbs are possible",
                            s.transport));
  transports::channel::check(s);
  return transports::channel::make(std::make_unique<transports::channel::memory_line>(s), s);
}

}  // namespace weft
