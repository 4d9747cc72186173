// SPDX-License-Identifier: Apache-2.0
// RDMA channels over a device.
#pragma once

#include <memory>

#include <weft/rdma_channel.hpp>

namespace weft::transports::verbs {

class device;

namespace channel {

/// On the device that the settings name, or the first one that works.
/// \throws weft::error as rdma_channel::open
std::unique_ptr<rdma_channel> open(const rdma_channel::settings& s);

/// \param on used by this channel alone, and outlives it
std::unique_ptr<rdma_channel> open(device& on, const rdma_channel::settings& s);

}  // namespace channel
}  // namespace weft::transports::verbs
