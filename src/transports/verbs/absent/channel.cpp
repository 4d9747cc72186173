// SPDX-License-Identifier: Apache-2.0
// RDMA channels over a device in a build without verbs.
#include <weft/error.hpp>

#include "transports/verbs/channel/open.hpp"

namespace weft::transports::verbs::channel {

std::unique_ptr<rdma_channel> open(const rdma_channel::settings&) {
  throw error(errc::unsupported,
              "RDMA channel: verbs is not built in (WEFT_WITH_VERBS); \"shm\" needs no device");
}

}  // namespace weft::transports::verbs::channel
