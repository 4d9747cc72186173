// SPDX-License-Identifier: Apache-2.0
// The sending end of a connection.
#pragma once

#include "transports/verbs/wire.hpp"

namespace weft::transports::verbs {

class pair;

/// Each frame is one send. Owned by the protocol layer's peer; its pair outlives it. Baton held
/// only.
class send_link final : public link {
 public:
  explicit send_link(pair& with) noexcept;
  ~send_link() override;

  std::string opened(parcel answer) override;
  post send(const frame_header& header, const frame_extension* extension,
            gather& data) noexcept override;
  post send_together(frame_header header, const frame_extension* extension,
                     const std::byte* data) noexcept override;

  post get(scatter, remote_address, std::size_t, std::uint64_t) noexcept override {
    return post::failed;
  }
  bool prefers_get(remote_address, std::size_t) const noexcept override { return false; }
  std::optional<remote_address> expose(const_buffer) noexcept override { return {}; }

  // What arrives at a peer that sleeps wakes it, by an interrupt.
  bool unseen() const noexcept override { return false; }
  void nudge() noexcept override {}

 private:
  pair& pair_;
};

}  // namespace weft::transports::verbs
