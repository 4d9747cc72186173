// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "transports/self/transport.hpp"

namespace weft::transports::self {

/// The link of a context to itself. Owned by the protocol layer's peer; the transport outlives it.
class self_link final : public link {
 public:
  explicit self_link(self_transport& t) noexcept : link(t.traits()), transport_(t) {}

  std::string opened(wireup_message) override { return {}; }
  post send(const frame_header& header, const frame_extension* extension,
            gather& data) noexcept override;
  // The receiver's address space is the sender's: the data can be copied directly.
  post get(scatter into, remote_address from, std::size_t size,
           std::uint64_t cookie) noexcept override;
  preference prefers_get(remote_address, std::size_t) const noexcept override {
    return preference::yes;
  }
  std::optional<remote_address> expose(const_buffer data) noexcept override {
    return remote_address{0, reinterpret_cast<std::uintptr_t>(data.data())};
  }
  bool unconsumed() const noexcept override { return !transport_.frames_.empty(); }

 private:
  self_transport& transport_;
};

}  // namespace weft::transports::self
