// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <weft/transport/link.hpp>

namespace weft::tests {

/// A link that takes every frame and drops it, and moves nothing by itself. Tests derive from it
/// and say otherwise where they need to.
class silent_link : public transports::link {
 public:
  using link::link;
  std::string opened(transports::wireup_message) override { return {}; }
  transports::post send(const transports::frame_header& h, const transports::frame_extension*,
                        transports::gather& data) noexcept override {
    data.skip(h.size);
    return transports::post::done;
  }
  transports::post get(transports::scatter, transports::remote_address, std::size_t,
                       std::uint64_t) noexcept override {
    return transports::post::failed;
  }
  transports::preference prefers_get(transports::remote_address,
                                     std::size_t) const noexcept override {
    return transports::preference::no;
  }
  std::optional<transports::remote_address> expose(const_buffer) noexcept override { return {}; }
  bool unconsumed() const noexcept override { return false; }
  bool wake_peer() noexcept override { return false; }
};

}  // namespace weft::tests
