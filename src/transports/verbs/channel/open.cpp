// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/channel/open.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "transports/channel/channel.hpp"
#include "transports/verbs/channel/device_line.hpp"
#include "transports/verbs/hardware/finder.hpp"

namespace weft::transports::verbs::channel {

namespace {

struct device_owner {
  std::unique_ptr<device> its_device;
};

/// The device outlives the line on it.
class line_with_device final : private device_owner, public device_line {
 public:
  line_with_device(std::unique_ptr<device> on, const settings& s)
      : device_owner{std::move(on)}, device_line(*its_device, s) {}
};

}  // namespace

std::unique_ptr<rdma_channel> open(const settings& s) {
  transports::channel::check(s);
  verbs::settings of_device;
  of_device.device = s.device;
  of_device.gid_index = s.gid_index;
  of_device.peer_timeout = s.timeout;
  std::string why;
  auto found = find(of_device, why);
  if (!found) throw error(errc::unsupported, fmt::format("RDMA channel: {}", why));
  return transports::channel::make(std::make_unique<line_with_device>(std::move(found), s), s);
}

std::unique_ptr<rdma_channel> open(device& on, const settings& s) {
  transports::channel::check(s);
  return transports::channel::make(std::make_unique<device_line>(on, s), s);
}

}  // namespace weft::transports::verbs::channel
